-- Operators, special forms, constants
select a in b = c
select a = b in c
select a || b + c
select a + b || c
select a like b || c
select -a.1
select -a::Int8
select - - a
select a ? b : c ? d : e
select a or b ? c : d
select a ? (b or c) : d or e
select x -> x ? 1 : 2
select x -> x or y
select not a or b
select not a + b
select -a * b
select a * -b
select a[1] + 1
select a and not b = c and d
select a or b and c
select (a and b) and c
select a and (b and c)
select a is null and b is not null
select a + b is null
select 1 + 2 between 3 and 4 + 5
select a = 1 and b like 'x' or not c in (1)
select a is distinct from b = c
select a = b is distinct from c
select a || b like c
select a * b + c % d div e mod f
select interval 1 day + 2
select interval a + b day
select interval '1 day 2 hour'
select interval '1' day
select interval(1)
select -1 ** 2
select a = any(select 1)
select a <> all (select 1)
select a = any([1,2])
select array(select 1)
select any((select 1))
select f((select 1), 2)
select a <=> b
select a is true
select a is not false
select a rlike b
select a regexp b
select a not regexp b
select not exists(select 1)
select a global in b
select a not global in b
select a in (a)
select a in ((1))
select a in ('x')
select a in (null)
select a in (select 1 union all select 2)
select a in tuple(1)
select (a,b) in ((1,2))
select a in (1, 2) and b
select (1,2) = (a,b)
select trim('a' from b)
select trim(a,b)
select trim(both a || b from c)
select extract(d, 'x')
select date_add(day, 1, d)
select dateadd(d, interval 1 day)
select dateDiff(day, a, b)
select timestampdiff(day,a,b)
select date_diff('day', a, b)
select date_sub(day, 1, d)
select DATE_SUB(d, interval 1 day)
select date_sub(d, 1)
select timestamp_add(day, 1, d)
select date_trunc(day, x)
select date(x)
select cast(a as b as c)
select cast(a as Nullable(Decimal(10,2)))
select cast(a as x, b)
select @@version
select $1
select ?
select {'a':1}
select {x:Array(UInt8)}
select a 'b'
select a as 'b'
select a as `x y`, a "b"
select f(a as b, c as d), [a as b], (a as b, c), (a as b).1, a + (b as c)
select f(x) as y from t where (z as w) = 1
select 1 as a from t order by a b
select 0x, 1
select 0xfffffffffffffffff
select 00012, 0b11, 1__0
select 1_000.5, 1e5_0
select 1e400
select 1.7976931348623157e309
select 9223372036854775808, -9223372036854775808, -9223372036854775809
select 340282366920938463463374607431768211456
select 'a\d\N\e\%\_'
select x -> y -> z
select (x, y) -> x + y
select ((x, y)) -> x
select () -> 1
select lambda(x, 1)
select a.*
select a.b.*
select * except (a, b) replace (a as b) apply sum
select * exclude a
select * exclude (a, b)
select columns('x') apply(f, 'p')
select * replace a+1 as a
select * replace (a+1 as a, b as c)
select * apply(quantile(0.9))
select * apply quantile(0.9)
select * except 'a.*'
select * except('a.*')
select * except strict a
select * except strict(a,b)
select * replace strict (a as b)
select * rename (a as b)
select columns(a, t.b) except (a)
select t.COLUMNS('x')
select t.COLUMNS(a,b)
select db.t.COLUMNS('x') except a
select count(* except a)
select * from t as x
select case when a then b as c end
select case a when 1 then 2 else 3 end as x
select a.b::Int8
select (a, b)::Tuple(a UInt8, b String)
select a::Tuple(a UInt8, b String).a
select a::Enum8('x' = 1, 'y' = -2)
select a::DateTime64(3, 'UTC')
select a::double precision
select a::AggregateFunction(quantile(0.9), UInt8)
select a::JSON(max_dynamic_paths=3, a.b UInt8, skip c, skip regexp 'x')
select a::timestamp with time zone
select any(x) ignore nulls over w, f(x) filter (where y) over (order by z), first_value(x respect nulls)
select sum(x) over (w partition by a order by b desc rows 1 preceding), f() over (), g() over (range between 1 preceding and 2 following exclude ties)
select f(x) over (groups between interval 1 day preceding and unbounded following)
select view(select 1)
select not(a), not (a, b), not(1)
select negate(1), - a.b, -f(x), -(a)
select viewIfPermitted(select 1 else null('x UInt8'))
select position('a' in b || c)
select a.:b, a.b.:`Int64`, a.c[].d, a.^b.c
select a.b[].c
select distinct a, distinct b
select all a
select f(select 1)
select tuple(1), array(), map()
select a == b
select a = b = c
select a != b
select if(a, b, c), multiIf(a,b,c), plus(a), minus(a,b,c), concat(a,b), and(a,b), or(a), not(a), in(a, b), isNull(x), tupleElement(a, 1), arrayElement(a, 1), CAST(a, 'x')
select toTypeName(.5), 5., 1.e5, - 5.
select date '2020-01-01' + interval 1 month
select NULL, null, Null, TRUE, False, Inf, NaN, INF
-- Clauses
select extract(week from d), extract(quarter from d), extract(second from d), extract(day from d), extract(month from d), extract(dow from d)
select extract(hour from d), extract(minute from d)
select extract(dow from d)
select extract(doy from d)
select extract(epoch from d)
select extract(isoyear from d)
select interval 1 week, interval 1 quarter, interval 1 millisecond, interval 1 microseconds, interval 1 ns, interval 1 SQL_TSI_DAY, interval 2 years, interval 1 mm, interval 1 h, interval 1 d, interval 1 w, interval 1 q, interval 1 yyyy, interval 1 s, interval 1 m, interval 1 hh, interval 1 mi, interval 1 n, interval 1 ss, interval 1 dd, interval 1 wk, interval 1 qq, interval 1 yy, interval 1 ms, interval 1 us
select interval '1.5 day'
select interval '-1 day'
select interval '1 day 2 h'
select interval '1 foo'
select interval -1 day
select date_add(year, 1, d), date_add(interval 1 day, d)
select date_add(d, interval 1 day)
select DATE_ADD(day, 1, d)
select dateSub(day, 1, d)
select timestampsub(day, 1, d)
select date_diff(day, a, b, 'UTC')
select age(day, a, b)
select ltrim(a), rtrim(a), trimBoth(a), ltrim(a, b)
select substring(a from 1 for 2), substring(a for 2)
select substr(a from 1)
select mid(a from 1)
select 1 union all select 2 limit 1
select 1 union select 2
select 1 except select 2 union all select 3
select 1 union all select 2 union distinct select 3
select 1 intersect select 2 intersect distinct select 3
select 1 union all select 2 intersect select 3 union all select 4
(select 1) union all (select 2) order by 1
((select 1))
(select 1) limit 1
(select 1 order by a) union all (select 2 limit 1)
select 1 from (select 1 union all select 2) as t, (select 3)
select * from (t)
select * from ((select 1))
select * from t1, t2 where a
select * from t1 join t2 on a join t3 on b
select * from t1 any join t2 using (a)
select * from t1 left any join t2 using a
select * from t1 semi left join t2 using a
select * from t1 left semi join t2 using a
select * from t1 anti right join t2 on a
select * from t1 right anti join t2 on a
select * from t1 left outer join t2 on a
select * from t1 full outer join t2 on a
select * from t1 asof left join t2 on a
select * from t1 left asof join t2 on a
select * from t1 inner any join t2 on a
select * from t1 global join t2 on a
select * from t1 natural join t2
select * from t1 cross join t2
select * from t1 join t2 using (a, b)
select * from t1 join t2 using a, b
select * from t1 join t2 using (a as b)
select * from t1 join t2 using *
select * from t array join a as b, c left array join d
select * from t array join [1,2] as x, range(3) y
select * from array join a
select * from t final
select * from t sample 1000
select * from t sample 1/2 offset 1/3
select * from t sample 0.1 offset 0.5 where 1
select * from 'file.parquet'
select * from `db`.`t`
select * from db.t as x final
select * from f(a = 1, 'x', b = c, select 1)
select * from f(1) settings a = 1
select * from f(1, settings a = 1, b = 'x')
select * from url('x', 'y', headers('a'='b'))
select * from remote('h', db.t, 'u')
select * from numbers(10) n where n.number
select * from t as x(a, b)
from t select a
from t
with x as (select 1) select * from x
with (select 1) as x select x
with 1 as x, x + 1 as y select y
with x select 1
with recursive a(n) as (select 1 union all select n + 1 from a) select * from a
with a as not materialized (select 1) select 1
select a from t group by a with rollup
select a from t group by rollup(a, b)
select a from t group by cube(a, b) with totals
select a from t group by a with cube with totals
select a from t group by grouping sets ((a), (a, b), ())
select a from t group by grouping sets (a, (b))
select a from t group by all
select a from t group by ()
select a from t group by (a, b)
select a from t group by a, b with rollup with totals
select a from t order by a asc, b desc, c nulls last
select a from t order by all
select a from t order by all desc nulls first
select a from t order by a ascending, b descending
select a from t order by a collate 'en'
select a from t order by a with fill
select a from t order by a with fill from 1 step 2 interpolate
select a from t order by a with fill from 1 step 2 interpolate (b, c as c + 1)
select a from t order by a with fill step interval 1 day
select a from t order by (a, b)
select a from t order by a limit 1 by b limit 2
select a from t limit 1, 2 by a
select a from t limit 1 offset 2 by a
select a from t limit 1 by all
select a from t limit 1 offset 2
select a from t limit 2, 1
select a from t offset 2
select a from t offset 2 rows fetch first 3 rows only
select a from t order by a fetch next 1 row with ties
select a from t order by a limit 1 with ties
select a from t order by a limit 1, 2 with ties
select a from t limit 10%
select a from t limit -5
select a from t limit 0.5
select top 5 a from t
select top 5 with ties a from t order by a
select top (5) a from t
select distinct on (a, b) c from t
select distinct a from t
select distinct (a, b) from t
select a, b, from t
select a from t where b having c
select a from t window w as (partition by a), v as (order by b)
select a from t qualify row_number() over (order by a) = 1
select a from t settings max_threads = 1, x = 'a', y = -1.5, z = true, m = {'a': 1}, n = [1,2], d = default, s
select a from t settings a = (1,2)
select a from t format JSON
select a from t format JSON settings a = 1
select a from t settings a = 1 format JSON
select a from t into outfile 'x'
select a from t into outfile 'x' truncate compression 'gzip' level 3 format CSV
select a from t into outfile 'x' append and stdout format CSV
select a from t prewhere a = 1 where b
select a as "x.y", `select`, "from", `null`, `distinct`, `a-b`, `1a`, `table`, `end`, `é`
select sum(a) over w2 from t window w2 as (w rows between 1 preceding and 1 following)
select f(x) over (order by a rows unbounded preceding)
select f(x) over (order by a range between current row and 3 following)
select $x$ab$x$, 'a\nb\tc\\d\'e\0'
select 1 where 1
select *, 1 from t
select a.* except b, t.* replace 1 as a
select columns('a') + columns('b')
select 1 as `a b`
select {a:UInt8} as b
select * from {db:Identifier}.{t:Identifier}
select * from {db:Identifier}.t
select - 1 - -1 - (-1)
select a, (b, c), [d, e], (f), ((g)), [(h)], (i) + 1, ((j + k)) * 2, (l = m) = n
select (a) = (b), (a + b), (1 + 2) * 3, 1 + (2 * 3), 1 - (2 - 3), (1 - 2) - 3
select (a and b) or c, (a or b) and c, not (a and b), (not a) and b, (not a) = b
select (a ? b : c) + 1, (x -> x)(1)
select -(a + b), -(a * b), (-a) * b, (-1) + 2, (-1).1, (-a)::Int8, (a + b)::Int8, (a + b)[1], (a, b).1, (a + b).1, [1,2][1], (1,2).1, 'a'[1]
select a between b and c + 1, (a between b and c) = 1, a in (1) = 1
select a like b escape 'c'
select toDateTime('x') + interval 1 day, f(interval 1 day)
select not not a, not -a, - not a
select a is null is null
select exists(select 1) + 1
select 1, -- comment
select (((1))), ((a)), (((select 1)))
-- Layout and statements
select 1
select a, b from t
select a from t where b and c group by d, e having f order by g, h desc limit 1 by i, j limit 5 offset 6 settings a = 1, b = 2 format JSON
with 1 as x, y as (select 1, 2) select x from y
with x as (select 1) select distinct a, b from (select 1) as t join (select 2, 3) as u on a = b and c = d left join v using (a, b) array join a as b, c prewhere x where y
select a in (select b, c from t), (select 1), f((select 2)), exists(select 3) from t where x in (select 1 union all select 2)
select 1 union all select 2, 3 union all (select 4 union distinct select 5)
select a from t, u, v where (a = 1 and b = 2) or not c
select f(x) over (partition by a, b order by c, d desc rows between 1 preceding and current row), g() over w from t window w as (order by a, b), v as (partition by c)
select case when a then b else c end, [1, 2, a], (a, b), x -> x + 1, arrayMap((x, y) -> (x, y), [1], [2])
select a from t group by all with totals order by all
select a from t group by a, b with rollup order by a with fill from 1 to 2, b interpolate (c as c + 1, d)
select a from t group by grouping sets ((a, b), (), (c))
select * except (a, b) replace (a + 1 as a, 2 as b) apply(sum), columns('x') from t
create table if not exists db.t on cluster c (a UInt8 default 1 comment 'x' codec(ZSTD(1), Delta) ttl d + interval 1 day, b Nullable(String) materialized 'x', c alias a, d UInt8 ephemeral, e String not null, index i a type minmax granularity 4, constraint c check a > 1, projection p (select a, b order by a), projection p2 (select a, sum(b) group by a)) engine = MergeTree() partition by toYYYYMM(d) order by (a,b) primary key a sample by a ttl d delete where a, d + interval 1 day to disk 'x' settings index_granularity = 8192, x = 1 comment 'y'
create table t (a UInt8) engine = Memory
create table t engine = Memory as select 1, 2
create table t (a UInt8, primary key a) engine = MergeTree order by a
create table t (a UInt8 primary key, b String) engine = MergeTree
create table t (a UInt8) engine = MergeTree order by ()
create table t (a UInt8) engine = MergeTree order by tuple()
create table t (a UInt8) engine = MergeTree order by (a desc, b)
create table t (a UInt8) engine = MergeTree order by (a)
create view v as select a, b from t
create materialized view db.v to db.w (a UInt8) as select a, b from t
create materialized view v engine = Memory order by a populate as select 1
create database d engine = Atomic comment 'x'
insert into t (a, b) select 1, 2
insert into t values (1, 2)
insert into t (a) format CSV
insert into t settings a = 1 select 1
insert into t select 1 format JSON
insert into function file('x', CSV) partition by a (a, b) select 1
drop table if exists a sync
alter table t add column a UInt8 first, drop column b, update a = 1, b = 2 where c, delete where d
alter table t drop partition 1
alter table t modify column a String codec(ZSTD) after b
alter table t modify column a remove ttl, modify setting a=1, b=2, reset setting a
alter table t add index i (a, b) type bloom_filter(0.1) granularity 1 first, drop index if exists i, add constraint c check a, add projection p (select a), comment column a 'x', rename column a to b, clear column a in partition 1, modify order by (a, b), modify ttl a, freeze partition 1 with name 'x', attach partition 1 from u, replace partition id '1' from u, move partition 1 to disk 'x', move part 'x' to table u, materialize index i, materialize ttl, modify comment 'x', modify query select 1, alter column a type String, drop detached partition 1, detach part 'x', fetch partition 1 from '/x'
explain select 1, 2
explain ast select 1
explain plan header = 1, actions = 1 select a, b from t format TSV
explain pipeline graph = 1 select 1
describe table (select 1, 2)
describe t format JSON
show tables from d not like 'x' limit 1 format JSON
show columns from t from d like 'x'
show create database d
rename table a to b, db.c to d on cluster x
exchange tables a and b
optimize table db.t partition 1 final deduplicate by a, b
kill query where query_id = 'x' and user = 'y' sync
system flush logs
set a = 1, b = 'x'
use d
truncate table if exists db.t
exists table db.t
delete from t where a = 1 and b = 2
update t set a = 1, b = 2 where c
create function f as (x, y) -> x + y
check table t partition 1
grant select on db.* to u
select a from t into outfile 'x' format CSV settings a = 1
select (select 1, 2) as x, [(select 1)], (select a from (select b from (select c)))
select a + b * c, not a, -a, a.1, a[1], a ? b : c, a between 1 and 2, a is null, a like 'x', a::Int8
select sum(a) filter (where b), quantile(0.5)(a)
select distinct on (a, b) c from t limit 5
select * from numbers(10), system.one as o, view(select 1, 2), file('x', CSV, 'a UInt8') as f final sample 1/2
(select 1, 2) intersect (select 3 order by a, b)
-- Trees
with 1 as x, y as (select 1) select distinct a as b, c from t as u final sample 1/2 join db.v as w using (a) left join z on a = b array join q as r, s prewhere p where w group by g, h with totals having i qualify m order by j desc, k limit 1 by l, o limit 5, 6 settings a = 1
select a from t order by a with fill from 1 to 2 interpolate (b as b + 1)
select a from t group by all order by all
select a from t group by grouping sets ((a, b), c)
select a, b from t group by a with rollup
select sum(x) over (partition by a, b order by c rows between 1 preceding and 2 following), sum(x) over w from t window w as (order by d), v as (partition by e)
select quantile(0.5)(x), any(x) respect nulls, x -> x + 1, (select 1), (select 1) as s, {x:UInt8}, [1, 2], (1, 2), 'a', 1.5, -1, null, true
select * from numbers(10) as n, (select 1) as s, t
select 1 union all select 2
select 1 union distinct select 2 intersect select 3
select 1 except select 2
(select 1) union all (select 2 union distinct select 3)
select 1 format JSON
select 1 into outfile 'x' format CSV settings a = 1
select a from t limit 5
select a from t limit 5 with ties
select a from t offset 5
with y(c) as materialized (select 1) select 1
insert into t (a, b) select 1
insert into t values (1)
insert into function file('x') select 1
create table if not exists db.t (a UInt8 default 1 comment 'x', b Array(String) codec(ZSTD(1)), index i a type minmax, constraint c check a) engine = MergeTree(1) partition by p order by (a, b) settings x = 1
create table t (a UInt8) engine = Memory as select 1
create table t as u
create view v as select 1
create materialized view v to w as select 1
create database d engine = Atomic
drop table a
drop table if exists db.a, b
drop database d
truncate table t
rename table a to b
alter table t add column a UInt8, drop column b, update a = 1 where b, delete where c
show tables
show databases
show create table t
show processlist
describe t
exists t
explain select 1
explain syntax select 1
set a = 1
optimize table t final
kill query where 1
check table t
create function f as x -> x + 1
delete from t where a
select * except a, * replace (a as b), columns('x'), t.* apply sum, columns(a, b) except c
select a.b, `a b`, a as `b c`
-- Trees
with 1 as x, y as (select 1) select distinct a as b, c from t as u final sample 1/2 join db.v as w using (a) left join z on a = b array join q as r, s prewhere p where w group by g, h with totals having i qualify m order by j desc, k limit 1 by l, o limit 5, 6 settings max_threads = 1
select 1 into outfile 'x' format CSV settings max_threads = 1
select a limit 2, 1 by b
select quantile(0.5)(x), any(x) respect nulls, x -> x + 1, (select 1), (select 1) as s, [1, 2], (1, 2), 'a', 1.5, -1, null, true, 1e8, x in (1, 2), x in t, x in (select 1), [1, 'a', [2]], (1, 'a', NULL), exists(select 1)
create table t (a UInt8 default 1, b Nullable(String) ttl d, c Enum8('x' = 1), d DateTime64(3, 'UTC'), e Decimal(10, 2), f Tuple(a UInt8, b String)) engine = MergeTree order by a primary key a sample by a ttl d comment 'x'
create table t as numbers(10)
create view v (a UInt8) as select 1
select * from t as u where a order by 1 limit 1 by b limit 3 offset 4
drop view v
create temporary table t (a UInt8)
describe (select 1)
describe numbers(1)
show columns from t
exists database d
exists view v
rename table db.a to b, c to db.d
optimize table t
optimize table t partition 1 final deduplicate
insert into t format CSV
insert into db.t select 1 settings max_threads = 1
attach table t
detach table t
undrop table t
drop function f
create index i on t (a) type minmax
grant select on *.* to u
select @@version, date '2020-01-01', interval 1 day
alter table t modify column a String, rename column a to b, comment column a 'x', drop partition 1, modify ttl a, modify order by a, clear column a, add index i a type minmax, freeze partition 1
select 1 from t sample 1/2 offset 1/3
select count(*) from t left array join a as b, c
select 1 order by a nulls first collate 'en'
-- Mixed
select from t
select a from from from
select 1 as a + 2
select a = b is null, a is null = b, a = b between c and d, a between b and c between d and e, not a is null, a < b = c
select a in b = c, a = b in c, a || b + c, a + b || c, a like b || c, -a.1, -a::Int8, - - a, a ? b : c ? d : e, a or b ? c : d
select x -> x ? 1 : 2, x -> x or y, a ? x -> 1 : 2
select 'ab\d\e' , '\'', 'it''s', "a""b"
select -(1), -(-1), - 1, +1, +a, 1 - 1, 1-1, a-1, a -1, -1.5, -0, - inf, -nan, -'a', -NULL
select [1,2,3], [1,'a'], [[1],[]], [-1, NULL], (1), (1,), (1,2), ((1,2)), (1,[2]), (1,a), [(1,2)], (), []
select a.b.c, a.b.1, a.1.2, (a).b, (a).1, f(x).y, a[1].b, a.1[2], a.-1, a.^b, `a b`.c
select 18446744073709551616, 340282366920938463463374607431768211456, 0x, 0xfffffffffffffffff, 1e400, 1.7976931348623157e309, 0b, 00012, 1__0, 1e5_0
select extract(year from d), extract(d, 'x'), extract('a' from b), date_add(day, 1, d), dateadd(d, interval 1 day), dateDiff(day, a, b), timestampdiff(day,a,b), date_trunc('day', x), dateadd(1,2,3), date(x), timestampAdd(day,1,x)
select interval '1 day 2 hour', interval '1' day, interval 1 day + 2, interval a + b day, interval(1), interval 1 day_x, interval '1' year to month
select case when a then b when c then d else e end, case a when 1 then 2 end, case, date '1', date, timestamp, date 'x' + 1, timestamp x
select trim(leading 'a' from b), trim(trailing 'a' from b), trim(a), trim('a' from b), trim(a,b), ltrim(a,b), rtrim(a)
select substring(a, 1), substr(a,1,2), substring(a from 1), mid(a,1), left(a,1), position(a,b), position(a in (b)), locate(a,b)
select cast(a as Nullable(Decimal(10,2))), cast(a, 'x' || 'y'), cast(a as b), cast(a as b as c), cast(a as String) as s, cast(1 + 1 as 'String')
select a::Array(Nullable(UInt8)), 'a'::String::String, a[1]::Int8, f(x)::UInt8, -1::Int8, -1.5::Decimal(10,1), 1::Int8 + 1, true::UInt8, null::Int8, [1,a]::Array(Int8), (1)::Int8, inf::Float32, -inf::Float64
select count(), count(*), COUNT(*), Sum(x), sumIf(distinct x, y), quantile(0.5)(x), quantile(0.5)(distinct x), f()(x), count(distinct a, b), count(distinct (a,b)), f(all x), f(distinct (x))
select exists(select 1), not exists(select 1), (select 1), (select 1) + 1, any(select 1), a = any(select 1), a <> all (select 1), a = any([1,2]), array(select 1)
select * , t.*, db.t.*, * except(a), * except a b, * exclude(a), * rename (a as b), t.* except(a) apply(x), columns('x') apply(f, 'p'), * replace a+1 as a, * apply(quantile(0.9)), * except 'a.*', * except strict a, columns(a, b) except (a), t.COLUMNS('x'), t.COLUMNS(a,b)
select map(1,2), {'a':1}, {'a':1,'b':x}, {}
select $1, @@version, @a, a::b, ?, a?.b:c
select a not between 1 and 2 and c, a between 1 and 2 or c, not a between 1 and 2, a is not null and b
select a is not distinct from b, a is distinct from b, a <=> b, a is true, a is not false, a = null, a rlike b, a similar to b
select a not regexp b, a global in b, a not global in b, a global not in (select 1), a in [1,2], a in f(x), a in (a, b), a in ('x'), a in (null), a in ((1)), a in (select 1 union all select 2), a in 1, a in 'x', a in a.b.c, (a,b) in ((1,2)), a in tuple(1)
select a as `x y`, a "b", a 'b', a as 'b', a from t as `x`, t2 y
select f(a as b, c d), [a as b], (a as b, c), (a as b).1, a + (b as c), f(x) as y from t where (z as w) = 1
-- DDL
create table if not exists db.t on cluster c (a UInt8 default 1 comment 'x' codec(ZSTD(1), Delta) ttl d + interval 1 day, b String materialized 'x', c alias a, d ephemeral, e Nullable(String) not null, index i a type minmax granularity 4, constraint c check a > 1, projection p (select a order by a), primary key a) engine = MergeTree() partition by toYYYYMM(d) order by (a,b) primary key a sample by a ttl d delete where a, d + interval 1 day to disk 'x' settings index_granularity = 8192 comment 'y'
create temporary table t as select 1
create or replace table t as db.x engine=Memory
create table t clone as u
create or replace view v (a UInt8) as select 1 comment 'x'
create materialized view v to t (a UInt8) as select 1
create materialized view v engine = Memory populate as select 1
create materialized view v refresh every 1 hour to t as select 1
create database if not exists d engine = Atomic comment 'x'
drop table if exists a, b sync
drop temporary table x
truncate table if exists t
truncate t
rename table a to b, c to d
show tables from d like 'x%' limit 5
show create t
show full tables
show settings like 'x'
show grants
describe table t
desc (select 1)
desc numbers(1)
exists table t
explain plan actions=1 select 1
set a=1, b='x'
optimize table t partition 1 final deduplicate by a
system reload dictionary x
kill query where query_id='x' sync
grant select(a) on db.* to u with grant option
alter table t add column if not exists a UInt8 default 1 after b, drop column c, modify column d String, rename column a to b, comment column a 'x', update a=1 where b, delete where c
alter table t drop partition '2020', detach partition id 'x', attach part 'x', freeze, modify ttl d + interval 1 day, modify setting a=1, add index i a type minmax, order by x
insert into t (a,b) values (1,2)
insert into t select 1
insert into function file('x') select 1 settings a=1
insert into t (* except a) format CSV
insert into t from infile 'x' compression 'gz' format CSV
create function f as (x) -> x+1
detach table t permanently
create user u identified by 'x'
create dictionary d (a UInt8) primary key a source(clickhouse(table 't')) lifetime(1) layout(flat())
select * from t into outfile 'x' format CSV settings a=1
begin transaction
commit
backup table t to Disk('a','b')
drop index i on t
update t set a=1 where b
-- Operands
select a.1 + 1, a[1] + 1, -a[1], not a[1], (a.1, b[2]), a.1 = 1, [a.1], (a + b).1, (a.1).2, a[1][2], f(x).1, a is null and b, (a as b), (a as b) + 1, -(-1), (1)
select f(a, x -> x), 1
select f(x -> x, 1)
select [x -> x, 1], (1, x -> x)
select intDiv(a, b), a div b, a div b div c, (a div b) + 1
select a <=> b, a is not distinct from b, match(a, b), a regexp b and c
