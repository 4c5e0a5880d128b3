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
CREATE TABLE t ENGINE = Memory EMPTY AS SELECT 1 AS x
CREATE TABLE t EMPTY AS SELECT 1 AS x
CREATE TABLE t ENGINE = Memory COMMENT 'hi' AS SELECT 1
CREATE TABLE t ENGINE = Memory AS SELECT 1 COMMENT 'hi'
CREATE TABLE t (x Int8 PRIMARY KEY, y String PRIMARY KEY) ENGINE = MergeTree
CREATE TABLE t (x String COLLATE utf8_unicode_ci, y Int8) ENGINE = Memory
CREATE TABLE t (x String SETTINGS (max_compress_block_size = 1, min_compress_block_size = 2)) ENGINE = MergeTree ORDER BY x
CREATE TABLE t (x String STATISTICS(tdigest, uniq)) ENGINE = MergeTree ORDER BY x
CREATE TABLE t (x String STATISTICS(countmin) CODEC(LZ4) TTL d + toIntervalDay(1) SETTINGS (a = 1)) ENGINE = MergeTree ORDER BY x
CREATE TABLE t (s String, INDEX i s TYPE text(tokenizer = 'default')) ENGINE = MergeTree ORDER BY tuple()
CREATE TABLE t (s String, INDEX i s TYPE text(tokenizer = ngrams(3), preprocessor = lower(s))) ENGINE = MergeTree ORDER BY tuple()
CREATE TABLE t (x Array(Float32), INDEX i x TYPE vector_similarity('hnsw', 'L2Distance', 2)) ENGINE = MergeTree ORDER BY tuple()
CREATE TABLE t (x Int8, PROJECTION p (WITH x + 1 AS y SELECT y ORDER BY y, x)) ENGINE = MergeTree ORDER BY x
CREATE TABLE t (x Int8, PROJECTION p (SELECT * ORDER BY x) WITH SETTINGS (index_granularity = 128)) ENGINE = MergeTree ORDER BY x
CREATE TABLE t (x Int8, FOREIGN KEY (x) REFERENCES u (y)) ENGINE = Memory
CREATE TABLE t (x Int8) ENGINE = MergeTree ORDER BY x DESC
CREATE TABLE t (x AggregateFunction(uniq, UInt64), y SimpleAggregateFunction(sum, UInt64), z AggregateFunction(quantiles(0.5, 0.9), Float64)) ENGINE = AggregatingMergeTree ORDER BY tuple()
CREATE TABLE t (x Enum8('a' = 1, 'b' = 2), y Enum('x', 'y'), z LowCardinality(Nullable(String)), n Nested(a Int8, b String)) ENGINE = Memory
CREATE TABLE t (x Decimal(10, 2), y DateTime64(3, 'UTC'), z FixedString(4), m Map(String, Array(Tuple(a Int8, b String))), v Variant(Int8, String), d Dynamic, e Dynamic(max_types = 4)) ENGINE = Memory
CREATE TABLE t (j JSON, k JSON(max_dynamic_paths = 3, a.b Int8, SKIP c, SKIP REGEXP 'd.*'), o Object('json')) ENGINE = Memory
CREATE TABLE t (x INT(11), y INTEGER SIGNED, z CHAR VARYING, q BINARY VARYING(3), nn NCHAR LARGE OBJECT) ENGINE = Memory
CREATE TABLE t (a Int8) ENGINE = Memory SETTINGS a = 1 FORMAT Null
CREATE TABLE t (a Int8) ENGINE = Memory INTO OUTFILE 'x' FORMAT CSV
ATTACH DATABASE d
ATTACH DATABASE IF NOT EXISTS d ENGINE = Atomic
ATTACH DATABASE d UUID '123e4567-e89b-12d3-a456-426614174000' ENGINE = Atomic
DROP USER u
DROP USER IF EXISTS u, v@host ON CLUSTER c
DROP ROLE r FROM local_directory
DROP QUOTA IF EXISTS q
DROP ROW POLICY p ON t
DROP SETTINGS PROFILE p
DROP PROFILE p
DROP POLICY p ON t
DROP TABLE t FORMAT Null
DROP TABLE t INTO OUTFILE 'f'
DROP MASKING POLICY m ON t
TRUNCATE ALL TABLES FROM d
TRUNCATE ALL TABLES FROM d LIKE 'x%'
TRUNCATE ALL TABLES FROM IF EXISTS d NOT LIKE 'x%'
TRUNCATE TABLES FROM d ILIKE 'x%'
TRUNCATE TABLES FROM d NOT ILIKE 'x%' SYNC
UNDROP TABLE t
UNDROP TABLE db.t UUID '123e4567-e89b-12d3-a456-426614174000' ON CLUSTER c
UNDROP TABLE t ON CLUSTER c
CREATE VIEW v (a, b) AS SELECT 1, 'x'
CREATE VIEW v SQL SECURITY INVOKER AS SELECT 1
CREATE VIEW v DEFINER = alice SQL SECURITY DEFINER AS SELECT 1
CREATE VIEW v SQL SECURITY DEFINER DEFINER = CURRENT_USER AS SELECT 1
CREATE VIEW v SQL SECURITY NONE AS SELECT 1
CREATE DEFINER = alice SQL SECURITY DEFINER VIEW v AS SELECT 1
CREATE DEFINER = alice@localhost VIEW v AS SELECT 1
CREATE SQL SECURITY INVOKER VIEW v AS SELECT 1
CREATE MATERIALIZED VIEW mv ENGINE = MergeTree ORDER BY a EMPTY AS SELECT 1
CREATE MATERIALIZED VIEW mv TO INNER UUID '123e4567-e89b-12d3-a456-426614174000' (a Int8) ENGINE = Memory AS SELECT 1
CREATE MATERIALIZED VIEW mv UUID '123e4567-e89b-12d3-a456-426614174000' TO INNER UUID '123e4567-e89b-12d3-a456-426614174001' ENGINE = Memory AS SELECT 1
CREATE MATERIALIZED VIEW mv REFRESH EVERY 1 HOUR TO t AS SELECT 1
CREATE MATERIALIZED VIEW mv REFRESH AFTER 1 MINUTE TO t AS SELECT 1
CREATE MATERIALIZED VIEW mv REFRESH EVERY 1 DAY OFFSET 2 HOUR TO t AS SELECT 1
CREATE MATERIALIZED VIEW mv REFRESH EVERY 1 DAY OFFSET 2 HOUR 30 MINUTE RANDOMIZE FOR 1 HOUR TO t AS SELECT 1
CREATE MATERIALIZED VIEW mv REFRESH EVERY 1 DAY DEPENDS ON a, db.b TO t AS SELECT 1
CREATE MATERIALIZED VIEW mv REFRESH EVERY 1 DAY DEPENDS ON a SETTINGS refresh_retries = 2 TO t AS SELECT 1
CREATE MATERIALIZED VIEW mv REFRESH EVERY 1 DAY APPEND TO t AS SELECT 1
CREATE MATERIALIZED VIEW mv REFRESH EVERY 1 WEEK 2 DAY ENGINE = Memory EMPTY AS SELECT 1
CREATE MATERIALIZED VIEW mv REFRESH AFTER 1 YEAR 2 MONTH 3 DAY 4 HOUR 5 MINUTE 6 SECOND APPEND TO db.t AS SELECT 1
CREATE MATERIALIZED VIEW mv REFRESH DEPENDS ON a TO t AS SELECT 1
CREATE MATERIALIZED VIEW mv TO t DEFINER = alice SQL SECURITY DEFINER AS SELECT 1
CREATE MATERIALIZED VIEW mv TO t SQL SECURITY NONE AS SELECT 1 COMMENT 'hi'
CREATE MATERIALIZED VIEW mv PRIMARY KEY a AS SELECT 1 AS a
CREATE INDEX i ON t (a) TYPE minmax GRANULARITY 1
CREATE INDEX IF NOT EXISTS i ON db.t (a, b) TYPE set(1)
CREATE INDEX i ON t a TYPE minmax
CREATE UNIQUE INDEX i ON t (a)
CREATE INDEX i ON t (a ASC)
CREATE INDEX i ON t (a DESC, b) TYPE minmax
CREATE INDEX i ON t ON CLUSTER c (a) TYPE minmax
CREATE INDEX i ON t (a)
CREATE INDEX i ON t (lower(a)) TYPE bloom_filter GRANULARITY 2
CREATE WORKLOAD all
CREATE WORKLOAD `all`
CREATE WORKLOAD IF NOT EXISTS w IN all
CREATE OR REPLACE WORKLOAD w IN `all`
CREATE WORKLOAD w ON CLUSTER c IN p
CREATE WORKLOAD w IN p SETTINGS weight = 3
CREATE WORKLOAD w IN p SETTINGS weight = 3, priority = 1
CREATE WORKLOAD w IN p SETTINGS max_io_requests = 100 FOR r, max_bytes_per_second = '1M' FOR r2
CREATE WORKLOAD w SETTINGS max_concurrent_threads = 100
CREATE WORKLOAD production IN all SETTINGS weight = 9, max_speed = 1000000
CREATE RESOURCE r (READ DISK d, WRITE DISK d)
CREATE RESOURCE r (WRITE ANY DISK, READ ANY DISK)
CREATE RESOURCE IF NOT EXISTS r ON CLUSTER c (READ DISK d)
CREATE OR REPLACE RESOURCE r (WRITE DISK `a-b`)
CREATE RESOURCE cpu (MASTER THREAD, WORKER THREAD)
CREATE RESOURCE cpu (WORKER THREAD)
CREATE RESOURCE q (QUERY)
CREATE RESOURCE m (MEMORY RESERVATION)
ALTER TABLE t CLEAR COLUMN a IN PARTITION 'p'
ALTER TABLE t CLEAR COLUMN IF EXISTS a IN PARTITION ID 'p'
ALTER TABLE t MODIFY COLUMN a MODIFY SETTING max_compress_block_size = 1
ALTER TABLE t MODIFY COLUMN a RESET SETTING x, y
ALTER TABLE t MATERIALIZE COLUMN a
ALTER TABLE t MATERIALIZE COLUMN a IN PARTITION 1
ALTER TABLE t MODIFY ORDER BY (a, b)
ALTER TABLE t MODIFY ORDER BY a
ALTER TABLE t MODIFY SAMPLE BY a
ALTER TABLE t MODIFY TTL d + INTERVAL 1 DAY
ALTER TABLE t MODIFY TTL d + INTERVAL 1 DAY DELETE WHERE x = 1, d + INTERVAL 1 WEEK TO VOLUME 'v'
ALTER TABLE t MODIFY TTL d + INTERVAL 1 DAY GROUP BY k SET v = max(v)
ALTER TABLE t MATERIALIZE TTL IN PARTITION 'x'
ALTER TABLE t MODIFY SETTING a = 1, b = 'c'
ALTER TABLE t RESET SETTING a, b
ALTER TABLE t MODIFY COMMENT 'x'
ALTER TABLE t MODIFY QUERY SELECT 1
ALTER TABLE t MODIFY QUERY SELECT a FROM b WHERE c = 1
ALTER TABLE t MODIFY REFRESH EVERY 1 HOUR
ALTER TABLE t MODIFY REFRESH EVERY 1 DAY APPEND
ALTER TABLE t MODIFY SQL SECURITY INVOKER
ALTER TABLE t MODIFY SQL SECURITY DEFINER DEFINER = alice
ALTER TABLE t MODIFY DEFINER = alice
ALTER TABLE t MODIFY DEFINER = CURRENT_USER SQL SECURITY DEFINER
ALTER TABLE t ADD INDEX i a TYPE minmax GRANULARITY 1
ALTER TABLE t ADD INDEX IF NOT EXISTS i (a, b) TYPE set(1) GRANULARITY 2 AFTER j
ALTER TABLE t ADD INDEX i a TYPE minmax FIRST
ALTER TABLE t ADD INDEX i a TYPE bloom_filter
ALTER TABLE t DROP INDEX i
ALTER TABLE t DROP INDEX IF EXISTS i
ALTER TABLE t CLEAR INDEX i IN PARTITION 1
ALTER TABLE t CLEAR INDEX i
ALTER TABLE t MATERIALIZE INDEX i
ALTER TABLE t MATERIALIZE INDEX IF EXISTS i IN PARTITION ID 'x'
ALTER TABLE t ADD STATISTICS a TYPE tdigest
ALTER TABLE t ADD STATISTICS IF NOT EXISTS a, b TYPE tdigest, uniq
ALTER TABLE t MODIFY STATISTICS a, b TYPE countmin, minmax
ALTER TABLE t DROP STATISTICS a, b
ALTER TABLE t DROP STATISTICS IF EXISTS a
ALTER TABLE t DROP STATISTICS ALL
ALTER TABLE t CLEAR STATISTICS a
ALTER TABLE t CLEAR STATISTICS IF EXISTS a IN PARTITION 1
ALTER TABLE t CLEAR STATISTICS ALL
ALTER TABLE t MATERIALIZE STATISTICS a
ALTER TABLE t MATERIALIZE STATISTICS IF EXISTS a, b
ALTER TABLE t MATERIALIZE STATISTICS a IN PARTITION 2
ALTER TABLE t MATERIALIZE STATISTICS ALL
ALTER TABLE t ADD PROJECTION p (SELECT a ORDER BY b)
ALTER TABLE t ADD PROJECTION IF NOT EXISTS p (SELECT a, count() GROUP BY a) AFTER q
ALTER TABLE t ADD PROJECTION p (SELECT a ORDER BY b) FIRST
ALTER TABLE t DROP PROJECTION p
ALTER TABLE t DROP PROJECTION IF EXISTS p
ALTER TABLE t CLEAR PROJECTION p IN PARTITION 1
ALTER TABLE t MATERIALIZE PROJECTION p
ALTER TABLE t MATERIALIZE PROJECTION IF EXISTS p IN PARTITION ID 'x'
ALTER TABLE t ADD CONSTRAINT c CHECK a > 1
ALTER TABLE t ADD CONSTRAINT IF NOT EXISTS c ASSUME a > 1
ALTER TABLE t DROP CONSTRAINT c
ALTER TABLE t DROP CONSTRAINT IF EXISTS c
ALTER TABLE t DROP PARTITION ALL
ALTER TABLE t DROP PARTITION ID 'x'
ALTER TABLE t DROP PART 'all_1_1_0'
ALTER TABLE t DROP DETACHED PARTITION 1
ALTER TABLE t DROP DETACHED PARTITION ALL
ALTER TABLE t DROP DETACHED PART 'x'
ALTER TABLE t DETACH PART 'x'
ALTER TABLE t DETACH PARTITION ALL
ALTER TABLE t ATTACH PARTITION 1
ALTER TABLE t ATTACH PART 'x'
ALTER TABLE t ATTACH PARTITION ID 'x'
ALTER TABLE t ATTACH PARTITION ALL
ALTER TABLE t ATTACH PARTITION 1 FROM u
ALTER TABLE t ATTACH PARTITION ALL FROM db.u
ALTER TABLE t REPLACE PARTITION 1 FROM u
ALTER TABLE t REPLACE PARTITION ID 'x' FROM db.u
ALTER TABLE t MOVE PARTITION 1 TO TABLE u
ALTER TABLE t MOVE PARTITION 1 TO DISK 'd'
ALTER TABLE t MOVE PARTITION 1 TO VOLUME 'v'
ALTER TABLE t MOVE PART 'x' TO DISK 'd'
ALTER TABLE t MOVE PART 'x' TO SHARD '/s'
ALTER TABLE t FREEZE
ALTER TABLE t FREEZE WITH NAME 'n'
ALTER TABLE t FREEZE PARTITION 1
ALTER TABLE t FREEZE PARTITION 1 WITH NAME 'n'
ALTER TABLE t FREEZE PARTITION ID 'x' WITH NAME 'n'
ALTER TABLE t UNFREEZE WITH NAME 'n'
ALTER TABLE t UNFREEZE PARTITION 1 WITH NAME 'n'
ALTER TABLE t FETCH PARTITION 1 FROM '/path'
ALTER TABLE t FETCH PART 'x' FROM '/path'
ALTER TABLE t FORGET PARTITION 1
ALTER TABLE t FORGET PARTITION ID 'x'
ALTER TABLE t UPDATE a = 1 IN PARTITION 1 WHERE b = 2
ALTER TABLE t DELETE IN PARTITION 1 WHERE a = 1
ALTER TABLE t APPLY DELETED MASK
ALTER TABLE t APPLY DELETED MASK IN PARTITION 1
ALTER TABLE t APPLY PATCHES
ALTER TABLE t APPLY PATCHES IN PARTITION ID 'x'
ALTER TABLE t REWRITE PARTS
ALTER TABLE t REWRITE PARTS IN PARTITION 1
ALTER TABLE t MODIFY COLUMN a Int8 SETTINGS (x = 1)
ALTER TABLE t DELETE WHERE a = 1 SETTINGS mutations_sync = 1
ALTER TABLE t DELETE WHERE a = 1 FORMAT Null
ALTER TEMPORARY TABLE t ADD COLUMN a Int8
ALTER DATABASE d MODIFY SETTING a = 1
ALTER DATABASE d MODIFY COMMENT 'x'
ALTER DATABASE d ON CLUSTER c MODIFY SETTING a = 1, b = 2
ALTER TABLE t UNLOCK SNAPSHOT 'x'
DELETE FROM t IN PARTITION 1 WHERE a = 1
DELETE FROM t IN PARTITION ID 'x' WHERE a = 1 SETTINGS lightweight_deletes_sync = 1
UPDATE db.t ON CLUSTER c SET a = 1, b = b + 1 IN PARTITION 1 WHERE c
OPTIMIZE TABLE t PARTITION ID 'x' FINAL CLEANUP
CHECK ALL TABLES
EXISTS TABLE db.t FORMAT CSV
SHOW DATABASES LIMIT 2 FORMAT CSV
SHOW TABLES LIKE 'a' LIMIT 1 INTO OUTFILE 'x' FORMAT CSV
SHOW TABLE t
SHOW VIEW v
SHOW DICTIONARY d
SHOW DATABASE d
SHOW TEMPORARY TABLE t
SHOW CREATE TABLE db.t FORMAT TSVRaw
SHOW CREATE TABLE t INTO OUTFILE 'x'
SHOW FUNCTIONS ILIKE 'a%' FORMAT JSON
SHOW PROCESSLIST FORMAT CSV
SHOW FILESYSTEM CACHES
SHOW USERS
SHOW ROLES
SHOW CURRENT ROLES
SHOW ENABLED ROLES
SHOW QUOTAS
SHOW QUOTA
SHOW CURRENT QUOTA
SHOW PROFILES
SHOW SETTINGS PROFILES
SHOW POLICIES
SHOW POLICIES ON t
SHOW ROW POLICIES ON db.t
SHOW ROW POLICIES
SHOW CREATE USER
SHOW CREATE USER u
SHOW CREATE USER u, v
SHOW CREATE ROLE r
SHOW CREATE QUOTA q
SHOW CREATE QUOTA CURRENT
SHOW CREATE QUOTAS
SHOW CREATE PROFILE p
SHOW CREATE SETTINGS PROFILE p
SHOW CREATE ROW POLICY p ON t
SHOW CREATE POLICY p ON db.t
SHOW CREATE POLICIES
SHOW ACCESS FORMAT CSV
SHOW GRANTS FORMAT CSV
DESCRIBE TABLE db.t FORMAT CSV
DESCRIBE TABLE t SETTINGS describe_compact_output = 1
EXPLAIN SELECT 1 FORMAT TSV
SET a
SET a, b = 1
SET a = DEFAULT, b = 1
SET param_x = 1
SET param_x = 'abc', param_y = [1, 2], param_z = {'a': 1}
SET m = {'a': 'b'}
SET additional_table_filters = {'t': 'x = 1'}
SET DEFAULT ROLE r TO u
SET DEFAULT ROLE NONE TO u, v
SET DEFAULT ROLE ALL TO u
SET DEFAULT ROLE ALL EXCEPT r TO CURRENT_USER
SET DEFAULT ROLE r, s TO u, CURRENT_USER
SET TRANSACTION SNAPSHOT 3
BEGIN TRANSACTION
START TRANSACTION
COMMIT
ROLLBACK
KILL QUERY WHERE 1 TEST FORMAT CSV
EXECUTE AS u
EXECUTE AS u SELECT 1
EXECUTE AS `u v` SHOW TABLES
MOVE USER u TO local_directory
MOVE USER u, v TO `x y`
MOVE ROLE r TO memory
MOVE QUOTA q TO s
MOVE SETTINGS PROFILE p TO s
MOVE ROW POLICY p ON t TO s
BACKUP TABLE t TO Disk('d', 'p')
BACKUP TABLE db.t AS db.u TO File('x')
BACKUP DATABASE d AS e EXCEPT TABLES a, b TO File('x')
BACKUP ALL TO File('x')
BACKUP ALL EXCEPT DATABASES a, b TO File('x')
BACKUP TABLE t PARTITIONS 1, 2 TO File('x')
BACKUP TABLE t PARTITION '1' TO File('x') ASYNC
BACKUP TEMPORARY TABLE t TO File('x') SYNC
BACKUP TABLE a, TABLE b, DATABASE c TO File('x')
BACKUP VIEW v, DICTIONARY d TO S3('x', 'y', 'z')
BACKUP TABLE t TO File('x') SETTINGS async = 1, password = 'p' FORMAT Null
BACKUP TABLE t TO File('x') SETTINGS cluster_host_ids = [['a']]
RESTORE TABLE t FROM Disk('d', 'p')
RESTORE TABLE db.t AS db.u FROM File('x') SETTINGS structure_only = true
RESTORE DATABASE d FROM File('x') ASYNC
RESTORE ALL FROM File('x')
RESTORE ALL EXCEPT TABLES a.b FROM File('x')
RESTORE TABLE t PARTITIONS 'a', 'b' FROM File('x')
RESTORE TABLE t ON CLUSTER c FROM File('x')
RESTORE TEMPORARY TABLE t FROM File('x')
SYSTEM DROP DNS CACHE
SYSTEM DROP CONNECTIONS CACHE
SYSTEM DROP MARK CACHE
SYSTEM DROP PRIMARY INDEX CACHE
SYSTEM DROP UNCOMPRESSED CACHE
SYSTEM DROP INDEX MARK CACHE
SYSTEM DROP INDEX UNCOMPRESSED CACHE
SYSTEM DROP VECTOR SIMILARITY INDEX CACHE
SYSTEM DROP TEXT INDEX CACHES
SYSTEM DROP TEXT INDEX HEADER CACHE
SYSTEM DROP TEXT INDEX POSTINGS CACHE
SYSTEM DROP MMAP CACHE
SYSTEM DROP QUERY CONDITION CACHE
SYSTEM DROP QUERY CACHE
SYSTEM DROP QUERY CACHE TAG 'x'
SYSTEM DROP COMPILED EXPRESSION CACHE
SYSTEM DROP ICEBERG METADATA CACHE
SYSTEM DROP PARQUET METADATA CACHE
SYSTEM DROP PAGE CACHE
SYSTEM DROP FILESYSTEM CACHE
SYSTEM DROP FILESYSTEM CACHE 'x'
SYSTEM DROP FILESYSTEM CACHE 'x' KEY k
SYSTEM DROP FILESYSTEM CACHE 'x' KEY k OFFSET 3
SYSTEM DROP FILESYSTEM CACHE ON CLUSTER c
SYSTEM DROP DISTRIBUTED CACHE
SYSTEM DROP DISK METADATA CACHE d
SYSTEM DROP SCHEMA CACHE
SYSTEM DROP SCHEMA CACHE FOR S3
SYSTEM DROP SCHEMA CACHE FOR FILE
SYSTEM DROP FORMAT SCHEMA CACHE
SYSTEM DROP FORMAT SCHEMA CACHE FOR Protobuf
SYSTEM DROP S3 CLIENT CACHE
SYSTEM DROP AVRO SCHEMA CACHE
SYSTEM FLUSH LOGS system.query_log
GRANT ALL PRIVILEGES ON db.* TO u WITH GRANT OPTION
GRANT SELECT ON db.t TO 'u@host'
GRANT SELECT ON db.t TO u@'%'
REVOKE SELECT ON t FROM u
REVOKE SELECT(a) ON db.t FROM u
REVOKE ALL ON *.* FROM u
REVOKE ALL FROM u
REVOKE ON CLUSTER c SELECT ON db.t FROM u
REVOKE GRANT OPTION FOR SELECT ON db.t FROM u
REVOKE ADMIN OPTION FOR r FROM u
REVOKE r FROM u
REVOKE r, s FROM u, v
REVOKE ALL EXCEPT r FROM u
REVOKE r FROM ALL
REVOKE r FROM ALL EXCEPT u
REVOKE ALL PRIVILEGES ON db.* FROM u
REVOKE SELECT ON db.t, INSERT(x) ON db.u FROM v
REVOKE ALL ON *.* FROM ALL EXCEPT u
ALTER USER u RENAME TO v
ALTER USER u RESET AUTHENTICATION METHODS TO NEW
ALTER USER u ADD HOST IP '1.2.3.4' DROP HOST NAME 'x'
ALTER USER u HOST LOCAL
ALTER USER u DEFAULT ROLE r
ALTER USER u SETTINGS a = 1
ALTER USER u ADD SETTINGS a = 1, b = 2
ALTER USER u MODIFY SETTINGS a = 1
ALTER USER u DROP SETTINGS a, b
ALTER USER u DROP ALL SETTINGS
ALTER USER u DROP ALL PROFILES
ALTER USER u DROP PROFILES 'a'
ALTER USER u ADD PROFILES 'a', 'b'
ALTER USER u DROP ALL SETTINGS DROP ALL PROFILES
ALTER USER u GRANTEES ANY EXCEPT v
ALTER USER CURRENT_USER SETTINGS a = 1
ALTER USER ALL SETTINGS a = 1
ALTER ROLE r RENAME TO s
ALTER ROLE IF EXISTS r SETTINGS a = 1
ALTER ROLE r ADD SETTINGS a = 1
ALTER ROLE r DROP SETTINGS a
ALTER QUOTA q RENAME TO p
ALTER QUOTA IF EXISTS q FOR INTERVAL 1 HOUR MAX queries = 3
ALTER QUOTA q TO u
ALTER SETTINGS PROFILE p RENAME TO q
ALTER PROFILE p SETTINGS a = 2
ALTER SETTINGS PROFILE p ADD SETTINGS a = 2
ALTER SETTINGS PROFILE p DROP ALL SETTINGS
INSERT INTO t FORMAT JSONEachRow {"a": 1}
INSERT INTO t SETTINGS async_insert = 1 VALUES (1)
INSERT INTO t WITH x AS (SELECT 1) SELECT * FROM x
WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x
INSERT INTO FUNCTION file('x.csv') VALUES (1)
INSERT INTO TABLE FUNCTION file('x.csv', 'CSV', 'a Int8') SELECT 1
INSERT INTO FUNCTION s3('x', 'CSV') PARTITION BY a SELECT 1 AS a
INSERT INTO FUNCTION s3('x', 'CSV') PARTITION BY rand() % 10 VALUES (1)
INSERT INTO t FROM INFILE 'x.csv' FORMAT CSV
INSERT INTO t FROM INFILE 'x.csv.gz' COMPRESSION 'gzip' FORMAT CSV
INSERT INTO t FROM INFILE 'x' SELECT 1
INSERT INTO t SELECT 1 FORMAT CSV
INSERT INTO t SELECT * FROM input('a Int8') FORMAT CSV
INSERT INTO t VALUES
INSERT INTO t FORMAT Values
INSERT INTO t FORMAT Values (1)
INSERT INTO `a b`.`c d` (`e f`, g.h) VALUES (1, 2)
INSERT INTO t SELECT 1 UNION ALL SELECT 2
INSERT INTO t (a, b,) VALUES (1, 2)
INSERT INTO t FROM x SELECT y
SELECT 1
SELECT 1, 2 AS a, 'x' b
SELECT DISTINCT a FROM t
SELECT DISTINCT ON (a, b) c FROM t
SELECT ALL a FROM t
SELECT TOP 3 a FROM t
SELECT TOP 3 WITH TIES a FROM t ORDER BY a
SELECT TOP(3) a FROM t
SELECT a, FROM t
SELECT * FROM t
SELECT t.* FROM t
SELECT db.t.* FROM db.t
SELECT * EXCEPT a FROM t
SELECT * EXCEPT (a, b) FROM t
SELECT * EXCEPT STRICT a FROM t
SELECT * EXCEPT STRICT (a, b) FROM t
SELECT * EXCEPT ('a.*') FROM t
SELECT * REPLACE (a + 1 AS a) FROM t
SELECT * REPLACE a + 1 AS a FROM t
SELECT * REPLACE STRICT (a + 1 AS a, b AS b) FROM t
SELECT * APPLY sum FROM t
SELECT * APPLY (sum) FROM t
SELECT * APPLY quantile(0.9) FROM t
SELECT * APPLY (x -> x + 1) FROM t
SELECT * APPLY x -> x + 1 FROM t
SELECT * EXCEPT a REPLACE (b + 1 AS b) APPLY toString APPLY length FROM t
SELECT t.* EXCEPT a APPLY sum FROM t
SELECT COLUMNS('a') FROM t
SELECT COLUMNS('a') EXCEPT b APPLY sum FROM t
SELECT COLUMNS(a, b) FROM t
SELECT t.COLUMNS('a') FROM t
SELECT t.COLUMNS(a, b) APPLY sum FROM t
SELECT * LIKE 'a%' FROM t
SELECT * ILIKE 'a%' FROM t
SELECT * NOT LIKE 'a%' FROM t
SELECT COLUMNS('a') LIKE 'x' FROM t
FROM t
FROM t SELECT a
FROM t SELECT a WHERE b
SELECT a FROM t PREWHERE b WHERE c
SELECT a FROM t FINAL
SELECT a FROM t AS u FINAL SAMPLE 0.1
SELECT a FROM t SAMPLE 1/10 OFFSET 1/2
SELECT a FROM t SAMPLE 1000
SELECT a FROM t FINAL SAMPLE 1 / 3
SELECT a FROM t u FINAL
SELECT a FROM db.t AS u
SELECT a FROM (SELECT 1) AS u
SELECT a FROM (SELECT 1)
SELECT a FROM (SELECT 1) AS u (x, y)
SELECT a FROM t AS u (x, y)
SELECT a FROM numbers(10)
SELECT a FROM numbers(10) AS n
SELECT a FROM view(SELECT 1)
SELECT a FROM remote('h', db.t)
SELECT a FROM cluster('c', db, t)
SELECT a FROM file('x', SETTINGS a = 1)
SELECT a FROM s3('x', SETTINGS a = 1, b = 2)
SELECT a FROM mysql('x', a = 1, b = 'c')
SELECT a FROM named(col, url = 'x')
SELECT a FROM values('a Int8', 1, 2)
SELECT a FROM (VALUES (1, 2), (3, 4)) AS t
SELECT a FROM (VALUES (1, 2), (3, 4)) AS t (x, y)
SELECT a FROM merge(db, '^x')
SELECT a FROM executable('x', TabSeparated, 'a Int8', (SELECT 1))
SELECT a FROM t ARRAY JOIN b
SELECT a FROM t ARRAY JOIN b AS c, d
SELECT a FROM t LEFT ARRAY JOIN b
SELECT a FROM t ARRAY JOIN [1, 2] AS x
SELECT a FROM t INNER ARRAY JOIN b
SELECT a FROM t, u
SELECT a FROM t CROSS JOIN u
SELECT a FROM t JOIN u ON t.a = u.a
SELECT a FROM t JOIN u USING a
SELECT a FROM t JOIN u USING (a, b)
SELECT a FROM t JOIN u USING (a AS b)
SELECT a FROM t JOIN u USING (*)
SELECT a FROM t INNER JOIN u ON 1
SELECT a FROM t LEFT JOIN u ON 1
SELECT a FROM t LEFT OUTER JOIN u ON 1
SELECT a FROM t RIGHT JOIN u ON 1
SELECT a FROM t FULL OUTER JOIN u ON 1
SELECT a FROM t FULL JOIN u USING a
SELECT a FROM t ANY LEFT JOIN u USING a
SELECT a FROM t LEFT ANY JOIN u USING a
SELECT a FROM t ALL INNER JOIN u USING a
SELECT a FROM t SEMI LEFT JOIN u USING a
SELECT a FROM t LEFT SEMI JOIN u USING a
SELECT a FROM t LEFT ANTI JOIN u USING a
SELECT a FROM t ANTI JOIN u USING a
SELECT a FROM t ASOF JOIN u ON t.a = u.a AND t.b >= u.b
SELECT a FROM t ASOF LEFT JOIN u USING (a, b)
SELECT a FROM t LEFT ASOF JOIN u USING (a, b)
SELECT a FROM t GLOBAL JOIN u USING a
SELECT a FROM t GLOBAL ANY LEFT JOIN u USING a
SELECT a FROM t LOCAL JOIN u USING a
SELECT a FROM t GLOBAL ALL LEFT JOIN u ON t.a = u.a
SELECT a FROM t PASTE JOIN u
SELECT a FROM t NATURAL JOIN u
SELECT a FROM t NATURAL LEFT JOIN u
SELECT a FROM t JOIN u ON t.a = u.a JOIN v ON u.b = v.b
SELECT a FROM t JOIN (SELECT 1 AS a) AS u USING a
SELECT a FROM (t JOIN u USING a)
SELECT a FROM t, u WHERE t.a = u.a
SELECT a FROM t INNER ANY JOIN u USING a
SELECT a FROM t GLOBAL CROSS JOIN u
SELECT a FROM t GROUP BY a
SELECT a FROM t GROUP BY a, b
SELECT a FROM t GROUP BY ALL
SELECT a FROM t GROUP BY ROLLUP(a, b)
SELECT a FROM t GROUP BY CUBE(a, b)
SELECT a FROM t GROUP BY a WITH ROLLUP
SELECT a FROM t GROUP BY a WITH CUBE WITH TOTALS
SELECT a FROM t GROUP BY a WITH TOTALS
SELECT a FROM t GROUP BY a WITH ROLLUP WITH TOTALS HAVING b
SELECT a FROM t GROUP BY GROUPING SETS ((a), (a, b), ())
SELECT a FROM t GROUP BY GROUPING SETS (a, (a, b))
SELECT a FROM t GROUP BY (a, b)
SELECT a FROM t GROUP BY ()
SELECT a FROM t GROUP BY 1, 2
SELECT a FROM t WITH TOTALS
SELECT count() FROM t HAVING count() > 1
SELECT a FROM t ORDER BY a
SELECT a FROM t ORDER BY a ASC, b DESC
SELECT a FROM t ORDER BY a ASCENDING, b DESCENDING
SELECT a FROM t ORDER BY a NULLS FIRST, b DESC NULLS LAST
SELECT a FROM t ORDER BY a COLLATE 'en'
SELECT a FROM t ORDER BY a DESC NULLS FIRST COLLATE 'en'
SELECT a FROM t ORDER BY ALL
SELECT a FROM t ORDER BY ALL DESC NULLS FIRST
SELECT a FROM t ORDER BY *
SELECT a FROM t ORDER BY a WITH FILL
SELECT a FROM t ORDER BY a WITH FILL FROM 1 TO 10 STEP 2
SELECT a FROM t ORDER BY a WITH FILL STEP INTERVAL 1 DAY
SELECT a FROM t ORDER BY a WITH FILL FROM 1 TO 10 STEP 2 STALENESS 3
SELECT a FROM t ORDER BY a WITH FILL STALENESS INTERVAL 1 HOUR
SELECT a FROM t ORDER BY a WITH FILL INTERPOLATE
SELECT a FROM t ORDER BY a WITH FILL INTERPOLATE (b AS b + 1, c)
SELECT a FROM t ORDER BY a WITH FILL, b WITH FILL FROM 1 INTERPOLATE ()
SELECT a FROM t ORDER BY a DESC WITH FILL FROM 10 TO 1 STEP -1
SELECT a FROM t LIMIT 1
SELECT a FROM t LIMIT 1, 2
SELECT a FROM t LIMIT 1 OFFSET 2
SELECT a FROM t OFFSET 2
SELECT a FROM t OFFSET 2 ROWS
SELECT a FROM t ORDER BY a OFFSET 2 ROWS FETCH FIRST 3 ROWS WITH TIES
SELECT a FROM t ORDER BY a FETCH FIRST 3 ROWS ONLY
SELECT a FROM t ORDER BY a LIMIT 3 WITH TIES
SELECT a FROM t ORDER BY a LIMIT 3 OFFSET 1 WITH TIES
SELECT a FROM t ORDER BY a LIMIT 1, 3 WITH TIES
SELECT a FROM t LIMIT 2 BY a
SELECT a FROM t LIMIT 2 OFFSET 1 BY a, b
SELECT a FROM t LIMIT 1, 2 BY a
SELECT a FROM t LIMIT 2 BY a LIMIT 10
SELECT a FROM t LIMIT 2 BY ALL
SELECT a FROM t LIMIT 2 BY *
SELECT a FROM t LIMIT 1 + 1
SELECT a FROM t LIMIT 0.5
SELECT a FROM t LIMIT -3
SELECT a FROM t LIMIT -3 OFFSET -2
SELECT a FROM t LIMIT (SELECT 1)
SELECT a FROM t LIMIT ALL
SELECT a FROM t QUALIFY row_number() OVER (ORDER BY a) = 1
SELECT a FROM t WINDOW w AS (PARTITION BY a), v AS (w ORDER BY b)
SELECT sum(a) OVER w FROM t WINDOW w AS (PARTITION BY a ORDER BY b ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
SELECT sum(a) OVER () FROM t
SELECT sum(a) OVER (PARTITION BY b, c ORDER BY d DESC NULLS LAST) FROM t
SELECT sum(a) OVER (ORDER BY b ROWS UNBOUNDED PRECEDING) FROM t
SELECT sum(a) OVER (ORDER BY b ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM t
SELECT sum(a) OVER (ORDER BY b RANGE BETWEEN 3 PRECEDING AND 2 FOLLOWING) FROM t
SELECT sum(a) OVER (ORDER BY b RANGE CURRENT ROW) FROM t
SELECT sum(a) OVER (ROWS 3 PRECEDING) FROM t
SELECT sum(a) OVER (GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t
SELECT sum(a) OVER (w ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING) FROM t WINDOW w AS ()
SELECT sum(a) OVER (RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND CURRENT ROW) FROM t
SELECT sum(a) FILTER (WHERE b) FROM t
SELECT sum(a) FILTER(WHERE b > 1) OVER (ORDER BY c) FROM t
SELECT count(DISTINCT a) FROM t
SELECT count(DISTINCT a, b) FROM t
SELECT count(ALL a) FROM t
SELECT any(a) IGNORE NULLS FROM t
SELECT any(a) RESPECT NULLS OVER (ORDER BY b) FROM t
SELECT quantile(0.5)(a) FROM t
SELECT quantiles(0.5, 0.9)(DISTINCT a) FROM t
SELECT sumIf(DISTINCT a, b) FROM t
SELECT count(*) FROM t
SELECT count(t.*) FROM t
SELECT lag(a, 1) OVER (PARTITION BY b ORDER BY c) AS d FROM t
SELECT first_value(a) IGNORE NULLS OVER w FROM t WINDOW w AS (ORDER BY b)
SELECT 1 UNION ALL SELECT 2
SELECT 1 UNION DISTINCT SELECT 2
SELECT 1 UNION ALL SELECT 2 UNION DISTINCT SELECT 3
SELECT 1 UNION DISTINCT SELECT 2 UNION ALL SELECT 3
SELECT 1 UNION ALL (SELECT 2 UNION DISTINCT SELECT 3)
(SELECT 1) UNION ALL (SELECT 2)
((SELECT 1))
SELECT 1 INTERSECT SELECT 2
SELECT 1 EXCEPT SELECT 2
SELECT 1 INTERSECT DISTINCT SELECT 2
SELECT 1 EXCEPT DISTINCT SELECT 2
SELECT 1 INTERSECT ALL SELECT 2
SELECT 1 EXCEPT ALL SELECT 2
SELECT 1 UNION ALL SELECT 2 INTERSECT SELECT 3
SELECT 1 EXCEPT SELECT 2 UNION ALL SELECT 3
(SELECT 1 EXCEPT SELECT 2) UNION ALL SELECT 3
SELECT 1 EXCEPT (SELECT 2 UNION ALL SELECT 3)
SELECT 1 INTERSECT SELECT 2 EXCEPT SELECT 3 INTERSECT SELECT 4
SELECT 1 UNION ALL SELECT 2 LIMIT 1 UNION ALL SELECT 3
SELECT 1 UNION ALL SELECT 2 FORMAT CSV
SELECT * FROM (SELECT 1 UNION ALL SELECT 2)
SELECT * FROM ((SELECT 1) UNION ALL (SELECT 2)) AS x
WITH 1 AS x SELECT x
WITH 1 AS x, 2 AS y SELECT x + y
WITH x AS (SELECT 1) SELECT * FROM x
WITH x AS (SELECT 1), y AS (SELECT 2) SELECT * FROM x, y
WITH x AS MATERIALIZED (SELECT 1) SELECT * FROM x
WITH RECURSIVE x AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM x WHERE n < 10) SELECT * FROM x
WITH x (a, b) AS (SELECT 1, 2) SELECT * FROM x
WITH (SELECT 1) AS x SELECT x
WITH (a, b) AS x SELECT x
WITH (x -> x + 1) AS f SELECT f(1)
WITH x -> x + 1 AS f SELECT f(1)
WITH RECURSIVE a AS (SELECT 1), b AS (SELECT 2) SELECT 1
WITH x AS (WITH y AS (SELECT 1) SELECT * FROM y) SELECT * FROM x
WITH sum(a) AS s SELECT s FROM t
WITH * SELECT 1
WITH t.a AS b SELECT b FROM t
SELECT 1 FORMAT CSV
SELECT 1 INTO OUTFILE 'x'
SELECT 1 INTO OUTFILE 'x' FORMAT CSV
SELECT 1 INTO OUTFILE 'x' APPEND FORMAT CSV
SELECT 1 INTO OUTFILE 'x' TRUNCATE
SELECT 1 INTO OUTFILE 'x' AND STDOUT
SELECT 1 INTO OUTFILE 'x' APPEND AND STDOUT COMPRESSION 'gzip' LEVEL 3 FORMAT CSV
SELECT 1 INTO OUTFILE 'x' COMPRESSION 'gzip'
SELECT 1 SETTINGS a = DEFAULT
SELECT a + b * c
SELECT (a + b) * c
SELECT a - b - c
SELECT a - (b - c)
SELECT -a
SELECT - - a
SELECT -(-a)
SELECT -1
SELECT -(1)
SELECT - 1
SELECT +1
SELECT +a
SELECT -1.5
SELECT 1 - -1
SELECT 1 - (-1)
SELECT -a + b
SELECT -a.1
SELECT -a[1]
SELECT -1::Int8
SELECT (-1)::Int8
SELECT -a::Int8
SELECT a || b || c
SELECT a || b + c
SELECT a % b, a DIV b, a MOD b
SELECT a / b * c
SELECT a = b, a == b, a != b, a <> b, a < b, a <= b, a > b, a >= b
SELECT a <=> b
SELECT a IS NULL, a IS NOT NULL
SELECT a IS DISTINCT FROM b, a IS NOT DISTINCT FROM b
SELECT NOT a
SELECT NOT a = b
SELECT NOT (a = b)
SELECT NOT NOT a
SELECT NOT a AND b
SELECT a AND b OR c
SELECT a OR b AND c
SELECT (a OR b) AND c
SELECT a AND (b AND c)
SELECT a AND b AND c
SELECT a OR b OR c
SELECT a AND NOT b
SELECT a IN (1, 2)
SELECT a IN (1)
SELECT a IN 1
SELECT a IN b
SELECT a IN (SELECT 1)
SELECT a NOT IN (1, 2)
SELECT a GLOBAL IN (SELECT 1)
SELECT a GLOBAL NOT IN (SELECT 1)
SELECT a IN t
SELECT a IN db.t
SELECT (a, b) IN ((1, 2), (3, 4))
SELECT a IN [1, 2]
SELECT a IN ()
SELECT a IN tuple()
SELECT a IN ('x')
SELECT a IN (1 + 1)
SELECT a IN (b, c)
SELECT a NOT IN b
SELECT NOT a IN (1)
SELECT a LIKE 'x', a NOT LIKE 'x', a ILIKE 'x', a NOT ILIKE 'x'
SELECT a LIKE 'x' ESCAPE '!'
SELECT a BETWEEN 1 AND 2
SELECT a NOT BETWEEN 1 AND 2
SELECT a BETWEEN 1 AND 2 AND b
SELECT a BETWEEN b + 1 AND c + 2 OR d
SELECT NOT a BETWEEN 1 AND 2
SELECT a ? b : c
SELECT (a ? b : c) ? d : e
SELECT a > 1 ? 'x' : 'y'
SELECT CASE a WHEN 1 THEN 'x' ELSE 'y' END
SELECT CASE WHEN a THEN 'x' END
SELECT CASE WHEN a THEN 'x' WHEN b THEN 'y' ELSE 'z' END
SELECT CASE a WHEN 1 THEN 2 WHEN 3 THEN 4 END
SELECT caseWithExpression(a, 1, 2, 3)
SELECT CAST(a AS Int8)
SELECT CAST(a, 'Int8')
SELECT CAST(a AS Nullable(Decimal(10, 2)))
SELECT cast(a as int)
SELECT a::Int8
SELECT a::Array(Int8)
SELECT 1::Int8
SELECT '1'::Int8
SELECT [1, 2]::Array(Int8)
SELECT (1, 2)::Tuple(Int8, Int8)
SELECT a::Int8::String
SELECT (a + b)::Int8
SELECT a::Tuple(a Int8, b String)
SELECT 1.5::Decimal(10, 2)
SELECT 0x10::Int8
SELECT TRY_CAST(a AS Int8)
SELECT EXTRACT(YEAR FROM a)
SELECT EXTRACT(day FROM a), EXTRACT(HOUR FROM a), EXTRACT(epoch FROM a)
SELECT extract(a, 'x')
SELECT SUBSTRING(a FROM 1)
SELECT SUBSTRING(a FROM 1 FOR 2)
SELECT substring(a, 1, 2)
SELECT SUBSTR(a, 1)
SELECT TRIM(a)
SELECT TRIM(LEADING 'x' FROM a)
SELECT TRIM(TRAILING 'x' FROM a)
SELECT TRIM(BOTH 'x' FROM a)
SELECT trim(a, 'x')
SELECT LTRIM(a), RTRIM(a)
SELECT POSITION('x' IN a)
SELECT position(a, 'x')
SELECT OVERLAY(a PLACING b FROM 1)
SELECT OVERLAY(a PLACING b FROM 1 FOR 2)
SELECT DATE_ADD(DAY, 1, a)
SELECT DATE_ADD(a, INTERVAL 1 DAY)
SELECT DATE_SUB(DAY, 1, a)
SELECT DATE_DIFF(DAY, a, b)
SELECT DATEDIFF(day, a, b)
SELECT dateDiff('day', a, b)
SELECT TIMESTAMP_ADD(DAY, 1, a)
SELECT TIMESTAMPADD(DAY, 1, a)
SELECT timestampDiff(DAY, a, b)
SELECT dateAdd(DAY, 1, a), date_sub(a, INTERVAL 2 MONTH)
SELECT INTERVAL 1 DAY
SELECT INTERVAL '1' DAY
SELECT INTERVAL '1 day'
SELECT INTERVAL '1 day 2 hours'
SELECT INTERVAL a DAY
SELECT INTERVAL (a + 1) DAY
SELECT INTERVAL a + 1 DAY
SELECT INTERVAL -1 DAY
SELECT INTERVAL 1 NANOSECOND, INTERVAL 1 MICROSECOND, INTERVAL 1 MILLISECOND, INTERVAL 1 SECOND, INTERVAL 1 MINUTE, INTERVAL 1 HOUR, INTERVAL 1 WEEK, INTERVAL 1 MONTH, INTERVAL 1 QUARTER, INTERVAL 1 YEAR
SELECT INTERVAL 1 DAYS, INTERVAL 2 HOURS
SELECT INTERVAL 1 SQL_TSI_DAY
SELECT a + INTERVAL 1 DAY - INTERVAL 2 HOUR
SELECT DATE '2020-01-01'
SELECT TIMESTAMP '2020-01-01 00:00:00'
SELECT date '2020-01-01', timestamp '2020-01-01 00:00:00'
SELECT DATE a
SELECT EXISTS(SELECT 1)
SELECT NOT EXISTS(SELECT 1)
SELECT a = ANY (SELECT 1)
SELECT a != ALL (SELECT 1)
SELECT a > ANY (SELECT 1)
SELECT a <= ALL (SELECT 1)
SELECT a = ALL (SELECT 1), a <> ANY (SELECT 1), a < ALL (SELECT 1)
SELECT a = SOME (SELECT 1)
SELECT (SELECT 1)
SELECT (SELECT 1) + 1
SELECT (SELECT 1) AS x
SELECT [1, 2, 3]
SELECT []
SELECT [[1], [2, 3]]
SELECT [a, b]
SELECT array(1, 2)
SELECT (1, 2)
SELECT (1,)
SELECT ()
SELECT (a, b).1
SELECT (a, b).2.3
SELECT tuple(1, 2)
SELECT a.1
SELECT a.1.2
SELECT a.b.c
SELECT a.b.1
SELECT a[1]
SELECT a[1][2]
SELECT a[-1]
SELECT a[b + 1].1
SELECT a.b[1].c
SELECT f(a).1
SELECT f(a).b
SELECT f(a)[1]
SELECT (a).b
SELECT a.b.:Int64
SELECT a.b.:`Array(Int64)`
SELECT a.^b
SELECT a.^b.c
SELECT a.b[].c
SELECT a.b[][].c.:Int64
SELECT a.`b.c`
SELECT a.b.:Int64.c
SELECT d.Int8, d.`Array(Int8)`.size0
SELECT a.null, a.size0, a.keys
SELECT json.a.b.:`Tuple(x Int8)`.x
SELECT x -> x + 1
SELECT (x, y) -> x + y
SELECT arrayMap(x -> x + 1, a)
SELECT arrayMap((x, y) -> (x, y), a, b)
SELECT arrayMap(x -> (y -> x + y), a)
SELECT arrayMap(() -> 1, a)
SELECT arrayMap((x) -> x, a)
SELECT arrayMap(lambda(tuple(x), x + 1), a)
SELECT arrayMap(x -> x ? 1 : 2, a)
SELECT arrayFold((acc, x) -> acc + x, a, 0)
SELECT arrayMap(f, a), arrayMap(plus(1), a)
SELECT map('a', 1)
SELECT @@max_threads
SELECT @@session.x
SELECT NULL, null
SELECT TRUE, false
SELECT nan, NaN, inf, -inf, Infinity, INF
SELECT 0x1F, 0XaB, 0b101, 0o17
SELECT 1e10, 1E-5, 1.5e3, .5, 5., 1_000, 0x1_F
SELECT 0x1.8p3
SELECT 18446744073709551615, 18446744073709551616, -9223372036854775808, -9223372036854775809
SELECT 340282366920938463463374607431768211455
SELECT 0.1, 100000000000000000000000., 1e-7
SELECT 00012, 1.0, 1.10
SELECT '', 'it''s', 'a\'b', 'tab\t', 'nl\n', 'back\\', '\x41', '\0', '\u0041'
SELECT "a", `a`, `a b`, "a""b", `a``b`
SELECT x'41', X'4142', b'01000001', B'1'
SELECT $$abc$$, $tag$a'b$tag$
SELECT ‘a’
SELECT −1
SELECT 1 AS `select`, 2 AS `from`, 3 AS `table`, 4 AS key
SELECT 1 AS date, 2 AS year, 3 AS interval, 4 AS case
SELECT (a AS b) + 1
SELECT f(a AS b)
SELECT format, date, key, index, view, end
SELECT if(a, b, c)
SELECT if(a AS b, b, c) AS d
SELECT plus(1, 2), minus(a, b), multiply(a, b), divide(a, b), negate(a)
SELECT equals(a, b), and(a, b), or(a, b), not(a), in(a, b)
SELECT tupleElement(a, 1), tupleElement(a, 'x'), arrayElement(a, 1)
SELECT concat(a, b), like(a, 'x'), isNull(a), between(a, 1, 2)
SELECT f(a, b)(c)
SELECT f(*), f(t.*), f(COLUMNS('a'))
SELECT f((SELECT 1))
SELECT grouping(a), GROUPING(a, b)
SELECT untuple(a), untuple((1, 2))
SELECT a -- comment
SELECT a /* comment */ , b # comment
SELECT a #! comment
SELECT /*+ hint */ a
SELECT 1 + 2 = 3 AND 'a' LIKE 'b' OR NOT c IS NULL
SELECT a IS NULL = b
SELECT a = b IS NULL
SELECT a IN (1) = b
SELECT a LIKE b || c
SELECT a + b IN (1, 2)
SELECT a < b < c
SELECT a = b = c
SELECT a BETWEEN 1 AND 2 = c
SELECT a ? b : c + 1
SELECT a OR b ? c : d
SELECT NOT a ? b : c
SELECT a * -b
SELECT a * - b ** c
SELECT -(a + b)
SELECT -a IS NULL
SELECT - a * b
SELECT a AND b = c OR d
SELECT a::Int8 + b::Int8
SELECT a + b::Int8
SELECT NOT a::Bool
SELECT a ISNULL, b NOTNULL
SELECT a IS TRUE
SELECT a = true IS NOT NULL
SELECT x.1 + x.2
SELECT t.1.a
SELECT 1 .1
SELECT (1).1
SELECT [1][1]
SELECT 'a'[1]
SELECT [1, 2][1] + 1
SELECT CAST('1' AS Int8).1
SELECT a WHERE b
SELECT a GROUP BY a HAVING b ORDER BY c LIMIT 1
SELECT 1 WHERE 1 = 1
SELECT toDate('2020-01-01') + 1
SELECT sum(a) AS s, s + 1 FROM t
SELECT COUNT(*), Sum(a), MAX(b) FROM t
SELECT CURRENT_TIMESTAMP, CURRENT_DATE, CURRENT_USER
SELECT current_timestamp()
SELECT toTypeName(1), version()
SELECT a FROM t WHERE a = 1 AND b IN (SELECT c FROM u WHERE d = t.d) ORDER BY 1 LIMIT 5
SELECT a FROM t ORDER BY (a, b)
SELECT a FROM t ORDER BY tuple(a, b) DESC
SELECT ROW(1, 2)
SELECT (1, 2) = (3, 4)
SELECT a FROM system.one
SELECT a FROM `db`.`t`
SELECT 1 AS "x y"
SELECT a FROM t WHERE (a, b) = (1, 2)
SELECT COLLATE
SELECT f(DISTINCT)
SELECT 1 PARALLEL WITH SELECT 2
CREATE TABLE a (x Int8) ENGINE = Memory PARALLEL WITH CREATE TABLE b (x Int8) ENGINE = Memory
CREATE TABLE a (x Int8) ENGINE = Memory PARALLEL WITH CREATE TABLE b (x Int8) ENGINE = Memory PARALLEL WITH DROP TABLE c
DROP TABLE a PARALLEL WITH DROP TABLE b SYNC PARALLEL WITH TRUNCATE TABLE c
INSERT INTO a SELECT 1 PARALLEL WITH INSERT INTO b SELECT 2
INSERT INTO a VALUES (1) PARALLEL WITH INSERT INTO b SELECT 2
SELECT 1 FORMAT CSV PARALLEL WITH SELECT 2
ALTER TABLE t DELETE WHERE 1 PARALLEL WITH ALTER TABLE u UPDATE a = 1 WHERE 2
CREATE USER u PARALLEL WITH CREATE ROLE r
CREATE VIEW v AS SELECT 1 PARALLEL WITH CREATE VIEW w AS SELECT 2
CREATE DATABASE a PARALLEL WITH CREATE DATABASE b
GRANT SELECT ON t TO u PARALLEL WITH GRANT INSERT ON t TO u
SET a = 1 PARALLEL WITH SET b = 2
EXPLAIN SELECT 1 PARALLEL WITH SELECT 2
SHOW TABLES PARALLEL WITH SHOW DATABASES
CREATE FUNCTION f AS x -> x PARALLEL WITH CREATE FUNCTION g AS y -> y
RENAME TABLE a TO b PARALLEL WITH EXCHANGE TABLES c AND d

-- every clause of every statement
SELECT DISTINCT a, b FROM t
SELECT DISTINCT ON (a, b) a, b, c FROM t
SELECT TOP (3) WITH TIES a FROM t ORDER BY a
SELECT DISTINCT TOP 3 a FROM t
FROM t AS x SELECT a, b WHERE a > 1 ORDER BY b
WITH RECURSIVE x (a) AS (SELECT 1), y AS (SELECT 2) SELECT * FROM x, y
WITH (x, y) -> x + y AS f SELECT f(1, 2)
WITH [1,2] AS a, (1, 2) AS b SELECT a, b
SELECT a FROM t WHERE y = 2 GROUP BY a WITH ROLLUP WITH TOTALS HAVING count() > 1
SELECT a FROM t GROUP BY a, b WITH CUBE
SELECT a FROM t GROUP BY GROUPING SETS ((a, b), (a), ())
SELECT a FROM t GROUP BY GROUPING SETS (a, b)
SELECT a FROM t ORDER BY ALL DESC NULLS LAST
SELECT a FROM t ORDER BY a ASC, b DESC NULLS FIRST, c NULLS LAST, d COLLATE 'en'
SELECT a FROM t ORDER BY a WITH FILL STALENESS INTERVAL 1 DAY INTERPOLATE (b AS b + 1, c)
SELECT a FROM t ORDER BY a WITH FILL INTERPOLATE ()
SELECT a FROM t ORDER BY a COLLATE 'en' WITH FILL, b
SELECT a FROM t LIMIT 2 OFFSET 1
SELECT a FROM t OFFSET 1
SELECT a FROM t ORDER BY a OFFSET 1 ROW FETCH FIRST 3 ROWS ONLY
SELECT a FROM t ORDER BY a OFFSET 1 ROWS FETCH NEXT 3 ROW WITH TIES
SELECT a FROM t ORDER BY a LIMIT 2 WITH TIES
SELECT a FROM t ORDER BY a LIMIT 1 BY a
SELECT a FROM t ORDER BY a LIMIT 1, 2 BY a, b LIMIT 3
SELECT a FROM t ORDER BY a LIMIT 1 OFFSET 2 BY a, b LIMIT 3, 4
SELECT a FROM t LIMIT 1 BY ALL
SELECT a FROM t ORDER BY a LIMIT -1
SELECT a FROM t ORDER BY a LIMIT 0.5 OFFSET 0.1
SELECT a FROM t ORDER BY a LIMIT -1 BY b
SELECT a FROM t QUALIFY row_number() OVER (PARTITION BY a) = 1
SELECT a FROM t HAVING a QUALIFY b ORDER BY c
SELECT a FROM t WINDOW w AS (PARTITION BY a ORDER BY b), v AS (w ROWS UNBOUNDED PRECEDING)
SELECT sum(a) OVER w, sum(a) OVER (w ORDER BY x), count() OVER () FROM t WINDOW w AS (PARTITION BY a)
SELECT sum(a) OVER (ORDER BY b ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING) FROM t
SELECT sum(a) OVER (ORDER BY b RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM t
SELECT sum(a) OVER (ORDER BY b GROUPS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) FROM t
SELECT sum(a) OVER (ORDER BY b RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND INTERVAL 2 HOUR FOLLOWING) FROM t
SELECT sum(a) OVER (PARTITION BY a, b ORDER BY c DESC, d ROWS 3 PRECEDING) FROM t
SELECT sum(a) FILTER (WHERE b > 1) FROM t
SELECT sum(a) FILTER (WHERE b > 1) OVER (PARTITION BY c) FROM t
SELECT first_value(a) IGNORE NULLS OVER w, last_value(a) RESPECT NULLS OVER w FROM t WINDOW w AS ()
SELECT quantile(0.5)(a), quantiles(0.1, 0.2)(a), count(DISTINCT a), count(DISTINCT a, b), count(*) FROM t
SELECT * FROM a JOIN b ON a.x = b.x
SELECT * FROM a INNER JOIN b USING (x, y)
SELECT * FROM a LEFT JOIN b USING x
SELECT * FROM a LEFT JOIN b USING x, y
SELECT * FROM a LEFT OUTER JOIN b ON a.x = b.x AND a.y > b.y
SELECT * FROM a RIGHT JOIN b ON a.x = b.x FULL OUTER JOIN c ON b.x = c.x
SELECT * FROM a CROSS JOIN b
SELECT * FROM a, b, c WHERE a.x = b.x
SELECT * FROM a LEFT ANY JOIN b USING x
SELECT * FROM a ANY LEFT JOIN b USING x
SELECT * FROM a ALL INNER JOIN b USING x
SELECT * FROM a SEMI LEFT JOIN b USING x
SELECT * FROM a LEFT SEMI JOIN b USING x
SELECT * FROM a RIGHT ANTI JOIN b USING x
SELECT * FROM a ANTI JOIN b USING x
SELECT * FROM a ASOF JOIN b ON a.x = b.x AND a.t >= b.t
SELECT * FROM a ASOF LEFT JOIN b USING (x, t)
SELECT * FROM a GLOBAL ANY LEFT JOIN b USING x
SELECT * FROM a GLOBAL JOIN b USING x
SELECT * FROM a LOCAL JOIN b USING x
SELECT * FROM a PASTE JOIN b
SELECT * FROM a NATURAL JOIN b
SELECT * FROM a NATURAL LEFT JOIN b
SELECT * FROM (a JOIN b USING x) JOIN c USING x
SELECT * FROM a ARRAY JOIN arr
SELECT * FROM a LEFT ARRAY JOIN arr AS x, arr2 AS y
SELECT * FROM a ARRAY JOIN [1,2] AS x ARRAY JOIN [3] AS y
SELECT * FROM a INNER ARRAY JOIN arr
SELECT * FROM a ARRAY JOIN arr JOIN b USING x
SELECT * FROM t FINAL
SELECT * FROM t AS x FINAL SAMPLE 1/10 OFFSET 1/2
SELECT * FROM t SAMPLE 0.1
SELECT * FROM t SAMPLE 1000
SELECT * FROM db.t AS x (a, b)
SELECT * FROM (SELECT 1) AS x (a)
SELECT * FROM (SELECT 1) x
SELECT * FROM (SELECT 1), (SELECT 2) AS y
SELECT * FROM numbers(10) AS n
SELECT * FROM db.numbers(10)
SELECT * FROM view(SELECT 1)
SELECT * FROM view(SELECT 1 UNION ALL SELECT 2)
SELECT * FROM executable('x', CSV, 'a UInt8', (SELECT 1), (SELECT 2))
SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS v (x, y)
SELECT * FROM VALUES('a UInt8', 1, 2)
SELECT * FROM values('a UInt8', (1), (2))
SELECT 1 INTERSECT SELECT 2 EXCEPT SELECT 3
SELECT 1 INTERSECT ALL SELECT 2 EXCEPT DISTINCT SELECT 3
SELECT * EXCEPT STRICT a, b FROM t
SELECT * EXCEPT 'a.*' FROM t
SELECT * REPLACE (a + 1 AS a, b + 1 AS b) FROM t
SELECT * REPLACE STRICT (a + 1 AS a) FROM t
SELECT * APPLY(sum) FROM t
SELECT * APPLY(x -> x + 1) FROM t
SELECT * APPLY(quantile(0.5)) FROM t
SELECT * APPLY(toString) APPLY(length) EXCEPT (a) REPLACE (1 AS b) FROM t
SELECT * APPLY(toString, 'p_') FROM t
SELECT COLUMNS(t.a, t.b) APPLY(sum) FROM t
SELECT db.t.COLUMNS('a') EXCEPT b FROM t
SELECT t.COLUMNS(a, b) FROM t
SELECT t.*, db.t.* FROM t
SELECT t.* EXCEPT (a) APPLY(sum) FROM t
SELECT t.* REPLACE (1 AS a) FROM t
SELECT * ILIKE '%a%' FROM t
SELECT t.* ILIKE 'a' FROM t
SELECT 1, -1, +1, 0x1F, 0b101, 0o17, 1e10, 1.5e-3, .5, 5., 1_000_000, 0xFFFFFFFFFFFFFFFF, 18446744073709551616, -9223372036854775808, 0x1.8p3, inf, nan, -inf, NULL, true, false
SELECT 0x, 1
SELECT 0xg
SELECT 1e
SELECT 1a
SELECT 1_a
SELECT 1__0
SELECT 1_
SELECT 1.0, 2.50, 1e3, 1E3, 1e+3, 12345678901234567890.0
SELECT 'a', 'a\'b', 'a''b', 'a\\b', '\n\t\r\0\b\f\a\v\e', '\x41', '\u0041', '\q', 'ä', ''
SELECT x'414243', X'41', b'01000001', B'1'
SELECT $$abc$$, $tag$a $$ b$tag$
SELECT $$$$
SELECT "a", `b`, `a``b`, "a""b", `a\`b`
SELECT DATE '2020-01-01', TIMESTAMP '2020-01-01 00:00:00', date '2020-01-01', timestamp '2020-01-01'
SELECT DATE('2020-01-01'), TIMESTAMP('2020-01-01 00:00:00'), DATE x, TIMESTAMP
SELECT INTERVAL 1 DAY, INTERVAL '1' DAY, INTERVAL '1 day', INTERVAL 1 + 1 DAY, INTERVAL x HOUR, INTERVAL -1 DAY, interval(1), INTERVAL (1) DAY
SELECT INTERVAL '1 day 2 hours', INTERVAL '1 YEAR 2 MONTHS'
SELECT INTERVAL 1 NANOSECOND, INTERVAL 1 MICROSECOND, INTERVAL 1 MILLISECOND, INTERVAL 1 SECONDS, INTERVAL 1 MINUTES, INTERVAL 1 HOURS, INTERVAL 1 DAYS, INTERVAL 1 WEEKS, INTERVAL 1 MONTHS, INTERVAL 1 QUARTERS, INTERVAL 1 YEARS
SELECT INTERVAL 1 SQL_TSI_DAY, INTERVAL 1 D, INTERVAL 1 M
SELECT INTERVAL '1:2' HOUR TO MINUTE
SELECT INTERVAL '1-2' YEAR TO MONTH, INTERVAL '1 2:3:4' DAY TO SECOND
SELECT a + b * c - d / e % f
SELECT (a + b) * c, a + (b * c), -(a), -a, - -a, -(-1), - 1, +a
SELECT NOT a AND b OR c, NOT (a AND b), NOT NOT a
SELECT a = b, a == b, a != b, a <> b, a < b, a <= b, a > b, a >= b, a <=> b
SELECT a = b = c, a < b < c
SELECT a || b || c, a || (b || c)
SELECT a AND b AND c OR d OR e AND f
SELECT a BETWEEN 1 AND 2 AND b, a NOT BETWEEN 1 AND 2, NOT a BETWEEN 1 AND 2
SELECT a IS NULL, a IS NOT NULL, a IS NULL IS NULL, NOT a IS NULL
SELECT a IS TRUE, a IS NOT FALSE
SELECT a LIKE 'x' ESCAPE '!', a LIKE b || c ESCAPE '\\'
SELECT a ~ 'x'
SELECT a IN (1, 2), a IN 1, a NOT IN (SELECT 1), a GLOBAL IN (1), a GLOBAL NOT IN t, (a, b) IN ((1, 2), (3, 4)), a IN t, a IN db.t, a IN [1, 2], a IN tuple(1, 2), a IN ()
SELECT a IN (1), a IN ((1)), a IN ((1, 2)), a IN (1, 2,), (1,)
SELECT a ? b::Int : c
SELECT CASE WHEN a THEN b ELSE c END, CASE a WHEN 1 THEN 2 WHEN 3 THEN 4 END, CASE WHEN a THEN b END
SELECT CASE a WHEN 1 THEN 2 ELSE 3 END AS x
SELECT a[1], a[1][2], a[-1], a.1, a.1.2, a.b.c, (1, 2).1, [1,2][1], tuple(1).1, m['k'], f(x)[1], f(x).1, (a).b, (a).1
SELECT a.1.b, a[1].x, f(x).name, a.`b c`, `a.b`.c
SELECT a::Int32, a::Array(UInt8)::String, 1::Int8, -1::Int8, '1'::UInt8, [1,2]::Array(UInt8), (1,2)::Tuple(UInt8, UInt8), a.b::String, NULL::Nullable(UInt8), 'x'::FixedString(3), 1.5::Decimal(3, 1)
SELECT CAST(1 AS UInt8), CAST(1, 'UInt8'), CAST(a AS Array(Nullable(String))), cast(1 as int), TRY_CAST(1 AS UInt8)
SELECT CAST(1 AS x AS UInt8), CAST(1 AS x, 'UInt8')
SELECT EXTRACT(YEAR FROM a), EXTRACT(DOW FROM a), EXTRACT(EPOCH FROM a), extract(a, 'b')
SELECT TRIM(a), TRIM(BOTH 'x' FROM a), TRIM(LEADING 'x' FROM a), TRIM(TRAILING 'x' FROM a), LTRIM(a), RTRIM(a, 'x')
SELECT POSITION('a' IN b), POSITION(a, b), OVERLAY(a PLACING b FROM 1 FOR 2), OVERLAY(a PLACING b FROM 1)
SELECT CEIL(a), CEILING(a), POW(a, 2), ADDDATE(d, INTERVAL 1 DAY), SUBDATE(d, INTERVAL 1 DAY)
SELECT COUNT(*), COUNT(), Sum(a), MAX(a), count(ALL a), sum(DISTINCT a)
SELECT x -> x + 1, (x) -> x, (x, y) -> x + y, arrayMap(x -> x * 2, a), () -> 1, arrayMap((x, y) -> (x, y), a, b)
SELECT a AS b, a b, a AS "c d", (a AS b) + 1, f(a AS b), [a AS b], (a AS x, b AS y)
SELECT (SELECT 1), (SELECT 1) + 1, EXISTS(SELECT 1), NOT EXISTS (SELECT 1), a = ANY (SELECT 1), a > ALL (SELECT 1), a != SOME (SELECT 1), a = ALL (SELECT 1)
SELECT [NULL, 1], [1, -1], [a, 1], (a, 1), ['a', 'b''c'], (1, 'x', NULL, [1, 2], (3, 4)), [(1, 2), (3, 4)]
SELECT a.b.c.:String, json.^`a b`.c, json.a[][].b
SELECT grouping(a), GROUPING(a, b) FROM t GROUP BY a, b
SELECT if(a, b, c), multiIf(a, b, c), IF(a, b, c), ifNull(a, b), coalesce(a, b), NULLIF(a, b)
SELECT now(), NOW(), CURRENT_TIMESTAMP, CURRENT_DATE, current_timestamp(), today()
SELECT a DIV b, a MOD b, a % b, DIV(a, b), MOD(a, b)
SELECT a not in (1), a Between 1 And 2, a Is Null
SELECT left, right, replace, format, key, index, values, set, day, date, timestamp, interval, case, end, if, exists, cast, in FROM t
SELECT a.b.c.d.e, a . b, a.*, a.b.*
SELECT untuple((1, 2)), untuple(a).1, untuple((1,2)) AS x
SELECT a::Nullable(Decimal(10, 2)), a::Enum8('a' = 1, 'b' = 2), a::DateTime64(3, 'UTC'), a::Map(String, UInt8), a::LowCardinality(String), a::AggregateFunction(sum, UInt8), a::Nested(a UInt8, b String), a::JSON(a.b UInt8, SKIP x, SKIP REGEXP 'y', max_dynamic_paths = 3), a::Dynamic(max_types = 3), a::Variant(UInt8, String), a::Object('json')
SELECT 1 AS a, 2 AS `b`, 3 AS `c-d`, 4 AS `1a`, 5 AS `select`, 6 AS `from`, 7 AS `a.b`, 8 AS `Ä`
SELECT t.`interval`, t.`null`, t.`select`, `select`.a, t.`not`, `null`.a
SELECT a AS `interval`, a AS `null`, a AS `not`, a AS `case`
SELECT (a, b) = (c, d), (a, b).1, [a][1], -a.1, -a[1], NOT a.1, a.1::Int, -a::Int
SELECT a + INTERVAL 1 DAY - INTERVAL 2 MONTH, INTERVAL 1 DAY + a, a - INTERVAL '1' DAY, now() - INTERVAL n + 1 DAY
SELECT a IS NULL AND b IS NOT NULL OR c = 1, NOT a = b, NOT a IN (1), -a + b, -a * b, -(a * b), -(a + b), (a = b) = c, a = (b = c), (a AND b) OR c, a AND (b OR c), (a OR b) AND c
SELECT a - (b - c), (a - b) - c, a / (b / c), a % (b % c), a * (b / c), (a * b) / c
SELECT (a || b) = c, a || b = c, a + b || c, a BETWEEN b + 1 AND c + 1, (a BETWEEN b AND c) AND d, a BETWEEN (b AND c) AND d
SELECT a[b ? 1 : 2], [a ? b : c], f(a ? b : c)
SELECT a.1 + b.2.3, 1.5.1, t.1.1
SELECT toDate('2020-01-01') + 1 AS d, d + 1, -1 AS m, -x AS n
SELECT a = NULL, NULL, Null, null, TRUE, False
SELECT "select"
SELECT count(*) FILTER (WHERE a), count() FILTER (WHERE a > 1) AS x
SELECT ((((1))))
SELECT -0, -0.0, 0., -.5, 1.e5, 0x0, 00, 007, 0b0
SELECT 'a' LIKE 'b' LIKE 'c', a IN (1) IN (2), a IS NULL = b, a = b IS NULL, NOT a = b IS NULL
SELECT toYear(a) AS y, y::String AS `y s`, y AS Y
SELECT * FROM t WHERE (a, b) IN (SELECT 1, 2) AND c IN (SELECT x FROM y WHERE z IN (1, 2))
SELECT a FROM t WHERE NOT (a IN (1)) AND NOT EXISTS (SELECT 1) OR NOT a LIKE 'b' OR NOT (a LIKE 'b')
SELECT date_trunc('day', a), dateTrunc('day', a), DATE_TRUNC(day, a), DATE_FORMAT(a, 'b')
SELECT map('a', 1)['a'], map('a', 1).keys, tuple(1 AS a).a, CAST(tuple(1), 'Tuple(a UInt8)').a
SELECT a.b AS c, a.b c, (a.b) c, a.b.c.* FROM t
SELECT (SELECT a FROM t) AS x, (SELECT a FROM t WHERE b) x, (SELECT 1 UNION ALL SELECT 2)
SELECT (WITH 1 AS x SELECT x), (FROM t SELECT a)
SELECT 1 IN 1, 1 IN (1) AS x, 1 IN (SELECT 1) AS y, 1 IN (t) AS z
SELECT 1 AS x FROM t WHERE x = 1 AND y BETWEEN '2020-01-01' AND '2020-02-01' AND z
SELECT lower('A')||upper('b')||'c', a||b AS c
SELECT a:: String, a :: String
SELECT 1 AS a , 2 AS b , (SELECT 3) AS c FROM system.one AS o
CREATE TABLE t (a UInt8) ENGINE = Memory
CREATE TABLE IF NOT EXISTS db.t ON CLUSTER c (a UInt8, b String) ENGINE = MergeTree ORDER BY a
CREATE TABLE t (a UInt8, b String, PRIMARY KEY a) ENGINE = MergeTree
CREATE TABLE t (a UInt8 PRIMARY KEY, b String) ENGINE = MergeTree
CREATE TABLE t (a UInt8 PRIMARY KEY, b String PRIMARY KEY) ENGINE = MergeTree ORDER BY (a, b)
CREATE TABLE t (a UInt8 DEFAULT 1, b UInt8 MATERIALIZED a + 1, c UInt8 ALIAS a, d UInt8 EPHEMERAL, e UInt8 EPHEMERAL 5, f DEFAULT 1, g MATERIALIZED 2, h ALIAS a) ENGINE = Memory
CREATE TABLE t (a UInt8 NOT NULL, b UInt8 NULL, c Nullable(UInt8), d UInt8 NULL DEFAULT 1, e UInt8 DEFAULT 1 NULL) ENGINE = Memory
CREATE TABLE t (a UInt8 COMMENT 'x', b UInt8 CODEC(ZSTD), c UInt8 CODEC(Delta, LZ4HC(9)), d UInt8 CODEC(Delta(4), ZSTD(1)), e UInt8 TTL d + INTERVAL 1 DAY) ENGINE = Memory
CREATE TABLE t (a String COLLATE binary, b Int AUTO_INCREMENT) ENGINE = MergeTree ORDER BY ()
CREATE TABLE t (a UInt8, INDEX i a TYPE minmax GRANULARITY 3, INDEX j (a, b) TYPE set(100), INDEX k lower(b) TYPE bloom_filter(0.01) GRANULARITY 1, INDEX l b TYPE tokenbf_v1(1, 2, 3)) ENGINE = MergeTree ORDER BY a
CREATE TABLE t (a UInt8, INDEX i a TYPE text(tokenizer = 'splitByNonAlpha', preprocessor = lower(a)), INDEX v b TYPE vector_similarity('hnsw', 'L2Distance', 3)) ENGINE = MergeTree ORDER BY a
CREATE TABLE t (a UInt8, CONSTRAINT c CHECK a > 1, CONSTRAINT d ASSUME b = a + 1) ENGINE = Memory
CREATE TABLE t (a UInt8, PROJECTION p (SELECT a, b ORDER BY b), PROJECTION q (SELECT count() GROUP BY a), PROJECTION r (WITH 1 AS x SELECT a + x)) ENGINE = MergeTree ORDER BY a
CREATE TABLE t (a UInt8, FOREIGN KEY (a) REFERENCES x (b)) ENGINE = Memory
CREATE TABLE t (a UInt8) ENGINE = MergeTree ORDER BY (a DESC, b ASC)
CREATE TABLE t (a UInt8) ENGINE = MergeTree ORDER BY a DESC
CREATE TABLE t (a UInt8) ENGINE = MergeTree() ORDER BY tuple()
CREATE TABLE t (a UInt8) ENGINE MergeTree ORDER BY a
CREATE TABLE t (a UInt8) ORDER BY a
CREATE TABLE t (a UInt8) ENGINE = ReplicatedMergeTree('/x', '{replica}') ORDER BY a
CREATE TABLE t AS x
CREATE TABLE t AS x ENGINE = Memory
CREATE TABLE t AS db.x ENGINE = MergeTree ORDER BY a
CREATE TABLE t CLONE AS x ENGINE = MergeTree ORDER BY a
CREATE TABLE t AS numbers(10)
CREATE TABLE t AS SELECT 1
CREATE TABLE t ENGINE = Memory AS SELECT 1 AS a
CREATE TABLE t ENGINE = Memory EMPTY AS SELECT 1 AS a
CREATE TABLE t EMPTY AS SELECT 1
CREATE TABLE t (a UInt8) ENGINE = Memory AS SELECT 1 AS a UNION ALL SELECT 2
CREATE TABLE t ENGINE = Memory AS (SELECT 1 AS a)
CREATE TABLE t ENGINE = Memory COMMENT 'x' AS SELECT 1
CREATE TABLE t ENGINE = Memory AS SELECT 1 COMMENT 'x'
CREATE TABLE t ENGINE = MergeTree ORDER BY a AS WITH 1 AS x SELECT x AS a
CREATE TEMPORARY TABLE t (a UInt8)
CREATE TEMPORARY TABLE t AS SELECT 1
CREATE TEMPORARY VIEW v AS SELECT 1
CREATE OR REPLACE TABLE t (a UInt8) ENGINE = Memory
REPLACE TABLE t (a UInt8) ENGINE = Memory
CREATE OR REPLACE TEMPORARY TABLE t (a UInt8)
CREATE TABLE t UUID '00000000-0000-0000-0000-000000000001' (a UInt8) ENGINE = Memory
ATTACH TABLE t (a UInt8) ENGINE = Memory
ATTACH TABLE t
ATTACH TABLE IF NOT EXISTS t FROM 'x' (a UInt8) ENGINE = Memory
ATTACH TABLE t AS REPLICATED
ATTACH DATABASE d ENGINE = Atomic
ATTACH VIEW v AS SELECT 1
ATTACH MATERIALIZED VIEW v TO t AS SELECT 1
CREATE VIEW v AS SELECT 1
CREATE OR REPLACE VIEW v AS SELECT 1
CREATE VIEW v (a) AS SELECT 1
CREATE VIEW v SQL SECURITY INVOKER AS SELECT 1 COMMENT 'x'
CREATE VIEW v COMMENT 'x' AS SELECT 1
CREATE VIEW v AS (SELECT 1)
CREATE VIEW v AS SELECT * FROM t WHERE a = {x:UInt8}
CREATE MATERIALIZED VIEW v TO t AS SELECT 1
CREATE MATERIALIZED VIEW v TO db.t (a UInt8) AS SELECT 1
CREATE MATERIALIZED VIEW v ENGINE = MergeTree ORDER BY a POPULATE AS SELECT 1 AS a
CREATE MATERIALIZED VIEW v ENGINE = MergeTree ORDER BY a EMPTY AS SELECT 1 AS a
CREATE MATERIALIZED VIEW IF NOT EXISTS v ON CLUSTER c (a UInt8) ENGINE = SummingMergeTree ORDER BY a PARTITION BY a AS SELECT 1 AS a
CREATE MATERIALIZED VIEW v TO t DEFINER = CURRENT_USER SQL SECURITY NONE AS SELECT 1
CREATE MATERIALIZED VIEW v REFRESH EVERY 1 HOUR TO t AS SELECT 1
CREATE MATERIALIZED VIEW v REFRESH AFTER 1 MINUTE ENGINE = Memory AS SELECT 1
CREATE OR REPLACE MATERIALIZED VIEW v TO t AS SELECT 1
CREATE DATABASE d
CREATE DATABASE IF NOT EXISTS d ON CLUSTER c ENGINE = Atomic COMMENT 'x'
CREATE DATABASE d TABLE OVERRIDE t (COLUMNS (a UInt8))
CREATE DATABASE d ENGINE = MaterializedMySQL TABLE OVERRIDE t ()
CREATE DATABASE d UUID '00000000-0000-0000-0000-000000000001' ENGINE = Atomic
CREATE FUNCTION f AS x -> x + 1
CREATE FUNCTION IF NOT EXISTS f ON CLUSTER c AS (x, y) -> x + y
CREATE OR REPLACE FUNCTION f AS () -> 1
CREATE INDEX IF NOT EXISTS i ON db.t (a, b) TYPE minmax GRANULARITY 2
CREATE UNIQUE INDEX i ON t (a DESC, b ASC)
CREATE INDEX i ON t a TYPE set(1)
CREATE NAMED COLLECTION c AS a = 1, b = 'x'
CREATE NAMED COLLECTION IF NOT EXISTS c ON CLUSTER x AS a = 1 OVERRIDABLE, b = 'x' NOT OVERRIDABLE
ALTER NAMED COLLECTION c SET a = 2, b = 'x' DELETE c, d
ALTER NAMED COLLECTION IF EXISTS c ON CLUSTER x DELETE c
DROP NAMED COLLECTION IF EXISTS c ON CLUSTER x
CREATE TABLE t (a UInt8,) ENGINE = Memory
CREATE TABLE "a.b"."c d" (x Int) ENGINE = Memory
CREATE TABLE t (a Int, b Int DEFAULT a + 1 COMMENT 'c' CODEC(NONE) TTL x) ENGINE = Memory
CREATE TABLE t (a Int MATERIALIZED now() COMMENT 'x', b Int DEFAULT CASE WHEN a THEN 1 END) ENGINE = Memory
CREATE OR REPLACE WORKLOAD all
CREATE RESOURCE r (READ DISK a, WRITE ANY DISK)
CREATE RESOURCE IF NOT EXISTS r (MASTER THREAD, WORKER THREAD)
DROP WORKLOAD IF EXISTS w
DROP RESOURCE r
ALTER TABLE t ADD COLUMN a UInt8
ALTER TABLE db.t ON CLUSTER c ADD COLUMN IF NOT EXISTS a UInt8 DEFAULT 1 COMMENT 'x' AFTER b
ALTER TABLE t ADD COLUMN a UInt8 FIRST, ADD COLUMN b String AFTER a, DROP COLUMN IF EXISTS c
ALTER TABLE t DROP COLUMN a
ALTER TABLE t DROP COLUMN a.b
ALTER TABLE t CLEAR COLUMN a IN PARTITION 1
ALTER TABLE t CLEAR COLUMN IF EXISTS a
ALTER TABLE t MODIFY COLUMN a String
ALTER TABLE t MODIFY COLUMN IF EXISTS a String DEFAULT 'x' CODEC(ZSTD) COMMENT 'c' FIRST
ALTER TABLE t MODIFY COLUMN a DEFAULT 1
ALTER TABLE t MODIFY COLUMN a FIRST
ALTER TABLE t MODIFY COLUMN a CODEC(ZSTD)
ALTER TABLE t MODIFY COLUMN a COMMENT 'x'
ALTER TABLE t MODIFY COLUMN a TTL b
ALTER TABLE t MODIFY COLUMN a REMOVE DEFAULT
ALTER TABLE t MODIFY COLUMN a REMOVE TTL
ALTER TABLE t MODIFY COLUMN a MODIFY SETTING x = 1
ALTER TABLE t ALTER COLUMN a TYPE String
ALTER TABLE t ALTER COLUMN IF EXISTS a TYPE String DEFAULT 'x'
ALTER TABLE t RENAME COLUMN a TO b
ALTER TABLE t RENAME COLUMN IF EXISTS a.b TO a.c
ALTER TABLE t COMMENT COLUMN a 'x'
ALTER TABLE t COMMENT COLUMN IF EXISTS a 'x'
ALTER TABLE t MATERIALIZE COLUMN a IN PARTITION ID '1'
ALTER TABLE t REMOVE SAMPLE BY
ALTER TABLE t MODIFY TTL a + INTERVAL 1 DAY DELETE WHERE b, c TO DISK 'd'
ALTER TABLE t REMOVE TTL
ALTER TABLE t MATERIALIZE TTL
ALTER TABLE t MATERIALIZE TTL IN PARTITION 1
ALTER TABLE t MODIFY SETTING a = 1, b = 'x'
ALTER TABLE t MODIFY QUERY SELECT 1 UNION ALL SELECT 2
ALTER TABLE t MODIFY REFRESH EVERY 1 DAY
ALTER TABLE t MODIFY DEFINER = alice SQL SECURITY DEFINER
ALTER TABLE t ADD INDEX i a TYPE minmax GRANULARITY 1 AFTER j
ALTER TABLE t ADD INDEX IF NOT EXISTS i (a, b) TYPE set(1) FIRST
ALTER TABLE t MATERIALIZE INDEX i IN PARTITION 1
ALTER TABLE t MATERIALIZE INDEX IF EXISTS i
ALTER TABLE t ADD STATISTICS a, b TYPE tdigest, uniq
ALTER TABLE t ADD STATISTICS IF NOT EXISTS a TYPE minmax
ALTER TABLE t MODIFY STATISTICS a TYPE tdigest
ALTER TABLE t DROP STATISTICS a
ALTER TABLE t DROP STATISTICS IF EXISTS a, b
ALTER TABLE t ADD CONSTRAINT IF NOT EXISTS c ASSUME a = 1
ALTER TABLE t ADD PROJECTION IF NOT EXISTS p (SELECT count() GROUP BY b) FIRST
ALTER TABLE t MATERIALIZE PROJECTION p IN PARTITION 1
ALTER TABLE t CLEAR PROJECTION IF EXISTS p IN PARTITION 1
ALTER TABLE t DROP PARTITION 1
ALTER TABLE t DROP PARTITION '2020-01-01'
ALTER TABLE t DROP PARTITION (1, 'a')
ALTER TABLE t DROP PARTITION tuple(1)
ALTER TABLE t DROP PART 'x'
ALTER TABLE t DETACH PARTITION 1
ALTER TABLE t ATTACH PARTITION 1 FROM db.x
ALTER TABLE t REPLACE PARTITION 1 FROM x
ALTER TABLE t MOVE PARTITION 1 TO TABLE db.x
ALTER TABLE t MOVE PART 'x' TO VOLUME 'v'
ALTER TABLE t FREEZE PARTITION 1 WITH NAME 'x'
ALTER TABLE t FREEZE WITH NAME 'x'
ALTER TABLE t UNFREEZE WITH NAME 'x'
ALTER TABLE t UNFREEZE PARTITION 1 WITH NAME 'x'
ALTER TABLE t FETCH PARTITION 1 FROM '/x'
ALTER TABLE t FETCH PART 'p' FROM '/x'
ALTER TABLE t UPDATE a = 1 WHERE b
ALTER TABLE t UPDATE a = 1, b = b + 1 IN PARTITION 1 WHERE c = 2
ALTER TABLE t DELETE WHERE a = 1
ALTER TABLE t (ADD COLUMN a UInt8), (DROP COLUMN b)
ALTER TEMPORARY TABLE t ADD COLUMN a UInt8
ALTER DATABASE d ON CLUSTER c MODIFY COMMENT 'x'
DELETE FROM t WHERE a = 1
UPDATE t SET a = 1 WHERE b
INSERT INTO t VALUES (1, 'a'), (2, 'b')
INSERT INTO t (a, b) VALUES (1, 'a')
INSERT INTO TABLE db.t (a, b) SELECT 1, 2
INSERT INTO t SELECT 1
INSERT INTO t (SELECT 1)
INSERT INTO t (a) (SELECT 1)
INSERT INTO t WITH 1 AS x SELECT x
WITH 1 AS x INSERT INTO t SELECT x
INSERT INTO t (* EXCEPT (a)) SELECT 1
INSERT INTO t (COLUMNS('a')) SELECT 1
INSERT INTO t FROM INFILE 'x.csv'
INSERT INTO FUNCTION file('x.csv', 'CSV', 'a UInt8') SELECT 1
INSERT INTO FUNCTION file('x.csv') PARTITION BY a VALUES (1)
INSERT INTO TABLE FUNCTION remote('a', db.t) (a, b) VALUES (1, 2)
INSERT INTO t FROM x SELECT a
INSERT INTO t (a.b, `c d`) VALUES (1, 2)
SHOW DATABASES
SHOW DATABASES LIKE 'a%'
SHOW TABLES
SHOW TABLES FROM d
SHOW FULL TABLES IN d LIKE 'x'
SHOW TEMPORARY TABLES
SHOW TABLES WHERE name = 'x' LIMIT 1
SHOW DICTIONARIES FROM d
SHOW DICTIONARIES LIKE 'x'
SHOW COLUMNS FROM t
SHOW EXTENDED FULL COLUMNS FROM t FROM d LIKE 'x'
SHOW FULL FIELDS IN d.t WHERE field = 'a' LIMIT 1
SHOW INDEX FROM t
SHOW EXTENDED INDEXES IN t IN d WHERE a
SHOW INDICES FROM t
SHOW KEYS FROM t
SHOW CREATE t
SHOW CREATE TEMPORARY TABLE t
SHOW CREATE VIEW v
SHOW CREATE DATABASE d
SHOW CREATE DICTIONARY d
SHOW FUNCTIONS
SHOW FUNCTIONS LIKE 'a'
SHOW FUNCTIONS ILIKE 'a%'
SHOW SETTING max_threads
SHOW PROCESSLIST
SHOW ENGINES
SHOW MERGES
SHOW MERGES LIKE 'a' LIMIT 1
SHOW CLUSTERS
SHOW CLUSTERS LIKE 'a' LIMIT 1
SHOW CLUSTER 'c'
SHOW CLUSTER c
SHOW PRIVILEGES
SHOW ACCESS
SHOW GRANTS
SHOW GRANTS FOR u, v
SHOW GRANTS FOR u WITH IMPLICIT FINAL
SHOW CREATE USERS
SHOW CREATE ROLE r, s
SHOW CREATE POLICY p ON d.t
SHOW POLICIES p
SYSTEM FLUSH LOGS
SYSTEM FLUSH LOGS system.query_log, query_log
SYSTEM FLUSH LOGS ON CLUSTER c
SYSTEM FLUSH ASYNC INSERT QUEUE
SYSTEM FLUSH DISTRIBUTED d.t
SYSTEM SHUTDOWN
SYSTEM KILL
SYSTEM RELOAD CONFIG
SYSTEM RELOAD CONFIG ON CLUSTER c
SYSTEM RELOAD USERS
SYSTEM RELOAD DICTIONARY d
SYSTEM RELOAD DICTIONARY ON CLUSTER c db.d
SYSTEM RELOAD DICTIONARIES
SYSTEM RELOAD EMBEDDED DICTIONARIES
SYSTEM RELOAD FUNCTIONS
SYSTEM RELOAD FUNCTION f
SYSTEM RELOAD ASYNCHRONOUS METRICS
SYSTEM UNLOAD PRIMARY KEY
SYSTEM UNLOAD PRIMARY KEY t
SYSTEM CLEAR DNS CACHE
SYSTEM DROP FILESYSTEM CACHE 'x' KEY k OFFSET 1
SYSTEM STOP MERGES
SYSTEM STOP MERGES d.t
SYSTEM START MERGES ON VOLUME p.v
SYSTEM STOP TTL MERGES t
SYSTEM START MOVES t
SYSTEM STOP FETCHES t
SYSTEM START REPLICATED SENDS t
SYSTEM STOP REPLICATION QUEUES t
SYSTEM START DISTRIBUTED SENDS t
SYSTEM STOP PULLING REPLICATION LOG t
SYSTEM STOP CLEANUP t
SYSTEM STOP VIEW v
SYSTEM START VIEWS
SYSTEM STOP VIEWS
SYSTEM WAIT VIEW v
SYSTEM CANCEL VIEW v
SYSTEM START REPLICATED VIEW v
SYSTEM STOP LISTEN TCP
SYSTEM START LISTEN QUERIES ALL
SYSTEM STOP LISTEN QUERIES DEFAULT EXCEPT TCP, HTTP
SYSTEM STOP THREAD FUZZER
SYSTEM SYNC REPLICA t
SYSTEM SYNC REPLICA t LIGHTWEIGHT FROM 'a', 'b'
SYSTEM SYNC REPLICA t PULL
SYSTEM SYNC DATABASE REPLICA d
SYSTEM SYNC TRANSACTION LOG
SYSTEM SYNC FILE CACHE
SYSTEM SYNC FILESYSTEM CACHE
SYSTEM DROP REPLICA 'r'
SYSTEM DROP REPLICA 'r' FROM TABLE t
SYSTEM DROP REPLICA 'r' FROM DATABASE d
SYSTEM DROP REPLICA 'r' FROM ZKPATH '/x'
SYSTEM DROP DATABASE REPLICA 'r' FROM DATABASE d
SYSTEM RESTART REPLICA t
SYSTEM RESTART REPLICAS
SYSTEM RESTORE REPLICA t
SYSTEM RESTORE DATABASE REPLICA d
SYSTEM RESTART DISK d
SYSTEM UNFREEZE WITH NAME 'x'
SYSTEM ENABLE FAILPOINT f
SYSTEM DISABLE FAILPOINT f
SYSTEM WAIT FAILPOINT f
SYSTEM NOTIFY FAILPOINT f
SYSTEM WAIT LOADING PARTS t
SYSTEM JEMALLOC PURGE
SYSTEM JEMALLOC ENABLE PROFILE
SYSTEM JEMALLOC FLUSH PROFILE
SYSTEM PREWARM MARK CACHE t
SYSTEM PREWARM PRIMARY INDEX CACHE t
SYSTEM SUSPEND FOR 1 SECOND
SYSTEM RESET COVERAGE
SYSTEM START REDUCE BLOCKING PARTS
SYSTEM RECONNECT ZOOKEEPER
SYSTEM FLUSH OBJECT STORAGE QUEUE t PATH 'x'
SYSTEM ALLOCATE MEMORY 1
SYSTEM FREE MEMORY
KILL QUERY WHERE a = 1
KILL MUTATION WHERE database = 'd' TEST
KILL QUERY WHERE 1 ASYNC
KILL TRANSACTION WHERE tid = 1
KILL PART_MOVE_TO_SHARD WHERE a
OPTIMIZE TABLE t
OPTIMIZE TABLE d.t ON CLUSTER c PARTITION 1 FINAL DEDUPLICATE BY a, b
OPTIMIZE TABLE t DEDUPLICATE BY * EXCEPT (a)
OPTIMIZE TABLE t DEDUPLICATE BY COLUMNS('a') EXCEPT b
BACKUP TABLE t TO Disk('b', '1.zip')
BACKUP DATABASE d TO S3('a', 'b', 'c') ASYNC
BACKUP DATABASE d EXCEPT TABLES a, b TO Disk('x') SYNC
BACKUP ALL TO Disk('x')
BACKUP ALL EXCEPT DATABASES a, b TO Disk('x')
BACKUP TEMPORARY TABLE t, DICTIONARY d, VIEW v TO Disk('x')
RESTORE TABLE t FROM Disk('b', '1.zip')
RESTORE DATABASE d AS e FROM Disk('x')
RESTORE ALL EXCEPT TABLES a FROM Disk('x')
EXPLAIN SELECT 1
EXPLAIN AST SELECT 1
EXPLAIN AST graph = 1, optimize = 0 SELECT 1
EXPLAIN SYNTAX SELECT 1
EXPLAIN SYNTAX oneline = 1, run_query_tree_passes = 1 SELECT 1
EXPLAIN QUERY TREE SELECT 1
EXPLAIN QUERY TREE run_passes = 0, dump_ast = 1 SELECT 1
EXPLAIN PLAN header = 1, actions = 1, indexes = 1, json = 1 SELECT 1
EXPLAIN PIPELINE SELECT 1
EXPLAIN ESTIMATE SELECT 1
EXPLAIN CURRENT TRANSACTION
EXPLAIN INSERT INTO t SELECT 1
EXPLAIN AST CREATE TABLE t (a UInt8) ENGINE = Memory
EXPLAIN (SELECT 1)
EXPLAIN header = 1 SELECT 1
EXPLAIN AST EXPLAIN SELECT 1
SELECT * FROM (EXPLAIN SELECT 1)
SELECT * FROM (EXPLAIN AST SELECT 1) WHERE explain LIKE 'a'
EXPLAIN ANALYZE SELECT 1
CHECK TABLE t
CHECK GRANT SELECT ON t
CHECK GRANT SELECT(a, b), INSERT ON d.t
DETACH TABLE t
DETACH TABLE IF EXISTS d.t ON CLUSTER c PERMANENTLY SYNC
DETACH VIEW v
DETACH DICTIONARY d PERMANENTLY
DETACH DATABASE d
DROP TABLE t
DROP TABLE IF EXISTS d.t ON CLUSTER c SYNC
DROP TABLE t NO DELAY
DROP TABLE IF EMPTY t
DROP TABLE a, d.b
DROP TEMPORARY TABLE IF EXISTS t
DROP VIEW v
DROP TEMPORARY VIEW v
DROP DICTIONARY IF EXISTS d SYNC
DROP DATABASE IF EXISTS d ON CLUSTER c SYNC
DROP FUNCTION IF EXISTS f ON CLUSTER c
DROP INDEX i ON t
DROP INDEX IF EXISTS i ON d.t
DROP USER IF EXISTS u, v ON CLUSTER c
DROP ROLE r
DROP ROW POLICY p ON t, d.u
DROP POLICY IF EXISTS p, q ON t
DROP QUOTA q
DROP USER u FROM local_directory
UNDROP TABLE d.t UUID '00000000-0000-0000-0000-000000000001' ON CLUSTER c
TRUNCATE t
TRUNCATE TABLE IF EXISTS d.t ON CLUSTER c SYNC
TRUNCATE DATABASE d
TRUNCATE ALL TABLES FROM IF EXISTS d LIKE 'x%'
TRUNCATE TABLES FROM d NOT LIKE 'x'
TRUNCATE TEMPORARY TABLE t
RENAME TABLE a TO b
RENAME TABLE a TO d.b, c TO e ON CLUSTER x
RENAME a TO b
RENAME TABLE IF EXISTS a TO b
RENAME DATABASE a TO b
RENAME DICTIONARY a TO b
EXCHANGE TABLES a AND b
EXCHANGE DICTIONARIES a AND d.b ON CLUSTER c
EXCHANGE TABLES a AND b, c AND d
DESCRIBE t
DESC TABLE d.t
DESCRIBE TABLE numbers(10)
DESCRIBE (SELECT 1)
DESCRIBE SELECT 1
DESCRIBE FILESYSTEM CACHE 'x'
DESC t FINAL
DESC t AS x
EXISTS t
EXISTS TABLE d.t
EXISTS VIEW v
EXISTS DICTIONARY d
EXISTS DATABASE d
USE d
USE DATABASE d
SET a = 1
SET a = 1, b = 'x', c = -1.5, d = true, e = NULL
SET a = DEFAULT
SET param_x = 1, param_y = [1, 2]
SET ROLE r
SET ROLE DEFAULT
SET ROLE ALL EXCEPT r, s
SET ROLE NONE
SET DEFAULT ROLE r, s TO u, v
SET DEFAULT ROLE NONE TO u, CURRENT_USER
SET DEFAULT ROLE ALL EXCEPT r TO u
SET a.b = 1
SET a = disk(type = s3, path = 'x')
CREATE TABLE a (x Int) ENGINE = Memory PARALLEL WITH CREATE TABLE b (x Int) ENGINE = Memory PARALLEL WITH DROP TABLE c
MOVE USER u TO x
MOVE ROLE a, b TO local_directory
MOVE ROW POLICY p ON t TO x
GRANT SELECT ON t TO u
GRANT SELECT, INSERT ON d.* TO u, v WITH GRANT OPTION
GRANT SELECT(a, b), SELECT(c), INSERT ON d.t TO u
GRANT SELECT ON *.* TO CURRENT_USER
GRANT ALL ON *.* TO u WITH REPLACE OPTION
GRANT ALL PRIVILEGES ON *.* TO u
GRANT SELECT ON a.b, INSERT ON c.d TO u
GRANT SELECT ON a.b, SELECT ON c.d TO u
GRANT SELECT(a), SELECT(b) ON t TO u
GRANT SELECT ON d.t* TO u
GRANT SELECT ON d*.* TO u
GRANT ON CLUSTER c SELECT ON t TO u
GRANT r TO u
GRANT r, s TO u WITH ADMIN OPTION
GRANT CURRENT GRANTS(SELECT ON t) TO u
GRANT SHOW TABLES, CREATE TEMPORARY TABLE ON *.* TO u
GRANT SOURCES ON *.* TO u
GRANT SET DEFINER ON x TO u
GRANT NAMED COLLECTION ON c TO u
GRANT TABLE ENGINE ON MergeTree TO u
GRANT CREATE USER ON * TO u
GRANT ALTER ADD COLUMN(a), ALTER DROP COLUMN ON t TO u
REVOKE GRANT OPTION FOR SELECT ON t FROM u
REVOKE ALL ON *.* FROM u, v
REVOKE ON CLUSTER c SELECT(a) ON t FROM u
CREATE USER u
CREATE USER u HOST IP '1.1.1.1', NAME 'x', REGEXP 'y', LIKE 'z'
CREATE USER u GRANTEES a, b EXCEPT c
CREATE USER u IN x
ALTER USER u ADD HOST LOCAL DROP HOST ANY
ALTER USER u DEFAULT ROLE NONE
ALTER USER u DROP ALL PROFILES, ADD PROFILE p
CREATE ROLE r
CREATE ROW POLICY p ON t USING a = 1 TO u
CREATE ROW POLICY p ON t
ALTER ROW POLICY p ON t RENAME TO q
ALTER POLICY p ON t USING NONE TO u
CREATE QUOTA q FOR INTERVAL 1 HOUR MAX queries = 10, errors = 5, FOR RANDOMIZED INTERVAL 1 DAY MAX execution_time = 1.5 TO u
CREATE QUOTA q NOT KEYED FOR 1 DAY TRACKING ONLY
ALTER QUOTA q RENAME TO r FOR INTERVAL 1 HOUR MAX queries 3
CREATE PROFILE p
CREATE MASKING POLICY m ON t UPDATE a = 1 WHERE b TO u
SELECT EXTRACT(ISODOW FROM a)
SELECT EXTRACT(MICROSECOND FROM a)
SELECT EXTRACT(EPOCH FROM a)
SELECT a !~ 'x'
SELECT a ~* 'x'
SELECT a !~* 'x'
SELECT NOT a ~ 'x' AND b
SELECT a || b ~ 'x' = c
SELECT INTERVAL '1:2:3' HOUR TO SECOND
SELECT INTERVAL '-1:2:3' HOUR TO SECOND
SELECT INTERVAL '1 2' DAY TO HOUR
SELECT INTERVAL '1 2:3' DAY TO MINUTE
SELECT INTERVAL '1 2:3:4' DAY TO SECOND
SELECT INTERVAL '1-2' YEAR TO MONTH
SELECT INTERVAL '-1-2' YEAR TO MONTH
SELECT INTERVAL '2:3' MINUTE TO SECOND
SELECT INTERVAL '1-2' YEARS TO MONTHS
SELECT INTERVAL '01-02' YEAR TO MONTH
SELECT DATE_SUB(INTERVAL 1 DAY, d)
SELECT TIMESTAMPDIFF(HOUR, a, b)
SELECT TIMESTAMPADD(DAY, 1, x)
SELECT a.b.:`Array(JSON)`
SELECT @@session.max_threads
SELECT f(*)
SELECT f(COLUMNS('a'))
SELECT a::INT(11)
SELECT a::CHARACTER VARYING(10)
SELECT a::NATIONAL CHARACTER LARGE OBJECT
SELECT a::BINARY VARYING
SELECT a::TINYINT SIGNED
SELECT a::CHAR LARGE OBJECT
SELECT a::SET('a', 'b')
SELECT a = 1 ? 'x' : 'y'
SELECT (a, b) -> c
SELECT f((a, b) -> c)
SELECT ALL(a)
SELECT KEY(a)
SELECT NOT(a)
SELECT AND(a, b)
SELECT LIKE(a, b)
SELECT IN(a, b)
SELECT FORMAT('{}', a)
SELECT SET(a)
SELECT VALUES(a)
CREATE TABLE t (a String COLLATE binary) ENGINE = Memory
CREATE TABLE t (a UInt8 CODEC(ZSTD) COMMENT 'x') ENGINE = Memory
CREATE TABLE t (a UInt8 TTL d CODEC(ZSTD)) ENGINE = Memory
CREATE TABLE t (a UInt8 STATISTICS(uniq) CODEC(ZSTD)) ENGINE = Memory
CREATE TABLE t (a UInt8 TTL d PRIMARY KEY) ENGINE = Memory
CREATE TABLE t (a UInt8 PRIMARY KEY TTL d) ENGINE = Memory
CREATE TABLE t (n Nested(a UInt8, b String)) ENGINE = Memory
CREATE TABLE t ("c" String) ENGINE = Memory
CREATE TABLE t (`a b` UInt8) ENGINE = Memory
CREATE TABLE t (primary Int8) ENGINE = Memory
CREATE TABLE t (key Int8) ENGINE = Memory
CREATE TABLE t (foreign Int8) ENGINE = Memory
CREATE VIEW v (a, b) AS SELECT 1
CREATE VIEW v (a UInt8) AS SELECT 1
CREATE MATERIALIZED VIEW v (a) ENGINE = Memory AS SELECT 1
CREATE QUOTA q KEYED BY user_name
CREATE QUOTA q KEYED BY client_key, user_name
CREATE QUOTA q FOR INTERVAL 1 DAY NO LIMITS TO ALL
CREATE QUOTA q FOR INTERVAL 1 DAY NO LIMITS
CREATE USER OR REPLACE u
CREATE USER u DEFAULT ROLE ALL EXCEPT r
CREATE ROW POLICY p, q ON t
CREATE ROW POLICY p ON t, d.u
CREATE ROW POLICY p ON t AS RESTRICTIVE FOR SELECT USING a = 1 AND b TO ALL EXCEPT v
CREATE ROW POLICY p ON t, q ON d.u USING 1

-- refused by both: a word or bracket too many or too few
(CREATE VIEW v (a UInt8) AS SELECT 1
(DETACH VIEW v
(DROP PROFILE p
(DROP TABLE t
(SELECT @@session.max_threads
(SELECT a FROM t ORDER BY a ASCENDING, b DESCENDING
(SYSTEM FLUSH LOGS
(SYSTEM SYNC FILESYSTEM CACHE
1 SELECT INTO OUTFILE 'x' AND STDOUT
ALTER  t MODIFY DEFINER = alice SQL SECURITY DEFINER
ALTER DATABASE (d MODIFY COMMENT 'x'
ALTER DATABASE d MODIFY SETTING, a = 1
ALTER ROLE r, SETTINGS a = 1
ALTER TABLE (t DROP CONSTRAINT c
ALTER TABLE CLEAR t STATISTICS ALL
ALTER TABLE CLEAR t STATISTICS a
ALTER TABLE db.t ON CLUSTER c ADD COLUMN IF NOT EXISTS a UInt8 DEFAULT 1 COMMENT, 'x' AFTER b
ALTER TABLE t  PART 'x'
ALTER TABLE t  STATISTICS a, b TYPE tdigest, uniq
ALTER TABLE t ADD ADD STATISTICS a, b TYPE tdigest, uniq
ALTER TABLE t ADD COLUMN a UInt8), (DROP COLUMN b)
ALTER TABLE t ALTER  IF EXISTS a TYPE String DEFAULT 'x'
ALTER TABLE t ATTACH PART
ALTER TABLE t CLEAR PROJECTION IF EXISTS EXISTS p IN PARTITION 1
ALTER TABLE t COMMENT COLUMN 'x' a
ALTER TABLE t DROP 'x' PART
ALTER TABLE t DROP INDEX  EXISTS i
ALTER TABLE t FETCH PARTITION FROM 1 '/x'
ALTER TABLE t FORGET PARTITION (1
ALTER TABLE t MODIFY COLUMN a DEFAULT DEFAULT 1
ALTER TABLE t MODIFY COLUMN) a TTL b
ALTER TABLE t MODIFY COMMENT, 'x'
ALTER TABLE t MODIFY MODIFY QUERY SELECT 1
ALTER TABLE t MODIFY QUERY SELECT 1 UNION ALL  2
ALTER TABLE t MODIFY, COLUMN a UInt8, UPDATE b = 1 WHERE c SETTINGS mutations_sync = 1
ALTER TABLE t MOVE PART 'x' TO SHARD '/s')
ALTER TABLE t MOVE PARTITION PARTITION 1 TO DISK 'd'
ALTER TABLE t RENAME COLUMN IF EXISTS a.b TO a,.c
ALTER TABLE t UNFREEZE WITH) NAME 'x'
ALTER TABLE t UPDATE a = 1, (b = b + 1 IN PARTITION 1 WHERE c = 2
ALTER TABLE t UPDATE a = 1, b = b + 1 IN PARTITION PARTITION 1 WHERE c = 2
ALTER TABLE) t APPLY DELETED MASK
ALTER USER u ADD a SETTINGS = 1 DROP SETTINGS b
ALTER) NAMED COLLECTION IF EXISTS c ON CLUSTER x DELETE c
ALTER, TABLE t DROP INDEX i
ATTACH MATERIALIZED VIEW VIEW v TO t AS SELECT 1
ATTACH TABLE IF NOT EXISTS t FROM 'x' ((a UInt8) ENGINE = Memory
ATTACH VIEW v) AS SELECT 1
BACKUP ALL EXCEPT DATABASES a,) b TO Disk('x')
BACKUP TABLE d.t AS d.u PARTITIONS 1, '2' TO File('x') SETTINGS password =
BACKUP TABLE t (TO Disk('b', '1.zip')
BACKUP TABLE t ON CLUSTER c TO Disk('x' 'x') SETTINGS base_backup = Disk('y')
BACKUP TABLE t ON CLUSTER c TO TO Disk('x') SETTINGS base_backup = Disk('y')
BACKUP TEMPORARY TABLE t, DICTIONARY d, (VIEW v TO Disk('x')
CHECK GRANT SELECT(a, b), INSERT ON d(.t
CREATE  IF NOT EXISTS r (MASTER THREAD, WORKER THREAD)
CREATE  REPLACE MATERIALIZED VIEW v TO t AS SELECT 1
CREATE  t (a UInt8) ENGINE = ReplicatedMergeTree('/x', '{replica}') ORDER BY a
CREATE  t (foreign Int8) ENGINE = Memory
CREATE DATABASE  ENGINE = MaterializedMySQL('a', 'b', 'c', 'd') SETTINGS x = 1 TABLE OVERRIDE t (COLUMNS (a UInt8, b String MATERIALIZED 1, INDEX i a TYPE minmax) PARTITION BY a ORDER BY b SAMPLE BY c TTL d), TABLE OVERRIDE u (ORDER BY x)
CREATE DICTIONARY d (k UInt64, v String DEFAULT '' EXPRESSION lower(x) HIERARCHICAL INJECTIVE IS_OBJECT_ID) PRIMARY KEY k SOURCE(CLICKHOUSE(HOST 'h' PORT 9000 USER 'u' PASSWORD '' DB 'd' TABLE 't' WHERE 'x > 1')) LAYOUT(HASHED()) LIFETIME(MIN 1 MAX 10) RANGE(MIN a MAX b) SETTINGS(x (= 1) COMMENT 'c'
CREATE INDEX i (ON t a TYPE set(1)
CREATE MATERIALIZED (VIEW v TO INNER UUID '00000000-0000-0000-0000-000000000001' AS SELECT 1
CREATE MATERIALIZED VIEW IF NOT EXISTS v ON CLUSTER c (a UInt8) ENGINE = SummingMergeTree ORDER BY a PARTITION BY a AS SELECT 1 AS a)
CREATE MATERIALIZED VIEW IF NOT EXISTS v ON CLUSTER c (a UInt8) ENGINE) = SummingMergeTree ORDER BY a PARTITION BY a AS SELECT 1 AS a
CREATE MATERIALIZED VIEW v  = MergeTree ORDER BY a POPULATE AS SELECT 1 AS a
CREATE MATERIALIZED VIEW v (TO t DEFINER = CURRENT_USER SQL SECURITY NONE AS SELECT 1
CREATE MATERIALIZED VIEW v ENGINE = MergeTree ORDER BY a EMPTY AS  1 AS a
CREATE MATERIALIZED VIEW v ENGINE = MergeTree ORDER BY a EMPTY, AS SELECT 1 AS a
CREATE MATERIALIZED VIEW v REFRESH EVERY (1 HOUR TO t AS SELECT 1
CREATE MATERIALIZED VIEW v REFRESH EVERY 1 DAY OFFSET 2 HOUR (RANDOMIZE FOR 10 MINUTE DEPENDS ON a, db.b SETTINGS refresh_retries = 1 APPEND TO t EMPTY AS SELECT 1
CREATE MATERIALIZED VIEW v REFRESH EVERY 1 DAY OFFSET 2 HOUR RANDOMIZE FOR 10 MINUTE DEPENDS ON a, db.b SETTINGS refresh_retries = 1 APPEND TO t EMPTY AS SELECT (1
CREATE MATERIALIZED VIEW v REFRESH EVERY, 1 HOUR TO t AS SELECT 1
CREATE MATERIALIZED VIEW v TO INNER UUID '00000000-0000-0000-0000-000000000001' AS (SELECT 1
CREATE MATERIALIZED VIEW v TO t DEFINER = CURRENT_USER SQL NONE SECURITY AS SELECT 1
CREATE OR REPLACE DICTIONARY IF NOT EXISTS db.d ON CLUSTER c (k UInt64PRIMARY ) KEY k, j SOURCE(HTTP(URL 'x' FORMAT 'TSV' CREDENTIALS(USER 'a' PASSWORD 'b') HEADERS(HEADER(NAME 'a' VALUE 'b')))) LAYOUT(COMPLEX_KEY_CACHE(SIZE_IN_CELLS 10)) LIFETIME(300)
CREATE OR REPLACE TEMPORARY, TABLE t (a UInt8)
CREATE PROFILE (p
CREATE QUOTA q NOT FOR KEYED 1 DAY TRACKING ONLY
CREATE RESOURCE IF, NOT EXISTS r (MASTER THREAD, WORKER THREAD)
CREATE ROLE IF NOT EXISTS r, s SETTINGS a = 1), PROFILE p
CREATE SETTINGS PROFILE) p SETTINGS a = 1 MIN 0 MAX 2 CONST, INHERIT 'default' TO u
CREATE TABLE IF NOT EXISTS db.t ON CLUSTER c) (a UInt8, b String) ENGINE = MergeTree ORDER BY a
CREATE TABLE t ( UInt8 PRIMARY KEY TTL d) ENGINE = Memory
CREATE TABLE t ( UInt8) ENGINE = Memory SETTINGS a = 1 COMMENT 'c'
CREATE TABLE t ((a UInt8) ENGINE = Null FORMAT TSV
CREATE TABLE t (a (UInt8 STATISTICS(uniq) CODEC(ZSTD)) ENGINE = Memory
CREATE TABLE t (a Enum('x', 'y' = 3), b DateTime('UTC'), c Decimal(10, 2), d Tuple(a UInt8, b String), e SimpleAggregateFunction(sum, UInt64), f AggregateFunction(quantiles(0.5, 0.9), UInt64), g FixedString(3), h QBit(Float32, 3)) ENGINE Memory =
CREATE TABLE t (a String COLLATE binaryENGINE ) = Memory
CREATE TABLE t (a UInt8 CODEC(ZSTD) COMMENT 'x') ENGINE) = Memory
CREATE TABLE t (a UInt8 CODEC(ZSTD) COMMENT, 'x') ENGINE = Memory
CREATE TABLE t (a UInt8 DEFAULT 1, b UInt8 MATERIALIZED a + 1, c UInt8 ALIAS a, d UInt8 EPHEMERAL, e UInt8 EPHEMERAL 5, f (DEFAULT 1, g MATERIALIZED 2, h ALIAS a) ENGINE = Memory
CREATE TABLE t (a UInt8 PRIMARY KEY, b String ENGINE = MergeTree
CREATE TABLE t (a UInt8 TTL) d CODEC(ZSTD)) ENGINE = Memory
CREATE TABLE t (a UInt8 UInt8) ENGINE = MergeTree ORDER BY (a DESC, b ASC)
CREATE TABLE t (a UInt8)  BY a
CREATE TABLE t (a UInt8) ENGINE = Memory AS (SELECT 1 AS a UNION ALL SELECT 2
CREATE TABLE t (a UInt8) ENGINE = Memory SETTINGS a = COMMENT 1 'c'
CREATE TABLE t (a UInt8) ENGINE = MergeTree PARTITION BY a ORDER BY a PRIMARY KEY a SAMPLE BY a TTL + d INTERVAL 1 DAY SETTINGS index_granularity = 1 COMMENT 'x'
CREATE TABLE t (a UInt8, INDEX i a TYPE minmax GRANULARITY 3, INDEX j (a, b) TYPE set(100) ), INDEX k lower(b) TYPE bloom_filter(0.01) GRANULARITY 1, INDEX l b TYPE tokenbf_v1(1, 2, 3)) ENGINE = MergeTree ORDER BY a
CREATE TABLE t (a UInt8, INDEX i a TYPE minmax GRANULARITY 3, INDEX j (a, b) TYPE set(100), INDEX k lower(b) TYPE bloom_filter(0.01) GRANULARITY 1 INDEX l b TYPE tokenbf_v1(1, 2, 3)) ENGINE = MergeTree ORDER BY a
CREATE TABLE t (a UInt8, PROJECTION p (SELECT a, b ORDER BY b), PROJECTION q (SELECT count() GROUP BY a), (PROJECTION r (WITH 1 AS x SELECT a + x)) ENGINE = MergeTree ORDER BY a
CREATE TABLE t (a UInt8, PROJECTION p (SELECT a, b ORDER ORDER BY b), PROJECTION q (SELECT count() GROUP BY a), PROJECTION r (WITH 1 AS x SELECT a + x)) ENGINE = MergeTree ORDER BY a
CREATE TABLE t (a UInt8, PROJECTION p INDEX a TYPE basic, PROJECTION q (SELECT a ORDER BY a) WITH SETTINGS (index_granularity index_granularity = 1)) ENGINE = MergeTree ORDER BY a
CREATE TABLE t (d Date) ENGINE = MergeTree ORDER BY d TTL d + INTERVAL 1 MONTH DELETE, d + INTERVAL 1 WEEK TO VOLUME 'v', d + INTERVAL 1 YEAR TO DISK 'x', d TO DISK IF EXISTS 'y', d + 1 DELETE WHERE a = 1, d RECOMPRESS CODEC CODEC(ZSTD(3)), d + 3 GROUP BY a, b SET c = max(c), e = sum(e), d DELETE
CREATE TABLE t (key Int8) ENGINE = = Memory
CREATE TABLE t (primary Int8) ENGINE = (Memory
CREATE TABLE t CLONE AS x ENGINE = MergeTree ORDER BY a)
CREATE TABLE t ENGINE = Memory AS (SELECT 1 AS a
CREATE TABLE t ENGINE = Memory AS SELECT 1 COMMENT ('x'
CREATE TABLE t a UInt8 STATISTICS(uniq) CODEC(ZSTD)) ENGINE = Memory
CREATE TABLE t) (`a b` UInt8) ENGINE = Memory
CREATE TABLE t) (a String COLLATE binary, b Int AUTO_INCREMENT) ENGINE = MergeTree ORDER BY ()
CREATE TABLE t) (a UInt8, CONSTRAINT c CHECK a > 1, CONSTRAINT d ASSUME b = a + 1) ENGINE = Memory
CREATE TEMPORARY (TABLE t AS SELECT 1
CREATE TEMPORARY TABLE t ((a UInt8)
CREATE USER u HOST  '1.1.1.1', NAME 'x', REGEXP 'y', LIKE 'z'
CREATE USER u IDENTIFIED WITH sha256_password BY 'x',, bcrypt_password BY 'y'
CREATE USER u IN x)
CREATE USER u'localhost'@ SETTINGS PROFILE 'p', a = 1 MIN 0 MAX 2 READONLY
CREATE USER u@'localhost' SETTINGS PROFILE 'p', a = MIN 1 0 MAX 2 READONLY
CREATE VIEW AS v SELECT 1
CREATE VIEW v AS SELECT * FROM t, WHERE a = {x:UInt8}
CREATE VIEW v COMMENT 'x' AS  1
CREATE VIEW v SQL SECURITY (INVOKER AS SELECT 1 COMMENT 'x'
CREATE, TABLE t AS db.x ENGINE = MergeTree ORDER BY a
DESC, t FINAL
DESCRIBE TABLE ()SELECT 1 AS a) FORMAT TSV
DROP (INDEX IF EXISTS i ON d.t
DROP FUNCTION IF EXISTS f (ON CLUSTER c
DROP ROW POLICY p ON t, d,.u
DROP SYSTEM MARK CACHE
DROP USER IF EXISTS u,, v ON CLUSTER c
DROP USER u FROM local_directory,
DROP WORKLOAD IF, EXISTS w
ENABLE FAILPOINT f
EXISTS EXISTS DICTIONARY d
EXPLAIN AST CREATE TABLE t (a UInt8), ENGINE = Memory
EXPLAIN AST graph = 1, optimize = 0 SELECT SELECT 1
EXPLAIN QUERY TREE SELECT (1
EXPLAIN SYNTAX oneline = ,1 run_query_tree_passes = 1 SELECT 1
GRANT SELECT ON a.b, SELECT ON (c.d TO u
INSERT INTO TABLE FUNCTION remote('a', db.t) (a, b) ) VALUES (1, 2)
INSERT INTO t (a) ( (SELECT 1)
INSERT INTO t (a) SETTINGS async_insert = 1 SELECT, 1
INSERT INTO t (a, b) FROM INFILE 'x.csv' COMPRESSION 'gzip' FORMAT CSV,
INSERT INTO t (a, b) FROM INFILE 'x.csv') COMPRESSION 'gzip' FORMAT CSV
INSERT INTO t FROM INFILE 'x'  a = 1 FORMAT CSV
INSERT INTO t FROM) INFILE 'x.csv'
INSERT INTO t, (* EXCEPT (a)) SELECT 1
INSERT INTO, t SETTINGS async_insert = 1 VALUES (1)
INSERT) INTO a SELECT 1 PARALLEL WITH INSERT INTO b SELECT 2
INTERVAL SELECT '1-2' YEAR TO MONTH, INTERVAL '1 2:3:4' DAY TO SECOND
INTO t VALUES (1, 'a'), (2, 'b')
KILL MUTATION WHERE database, = 'd' TEST
KILL QUERY) WHERE 1 ASYNC
KILL TRANSACTION (WHERE tid = 1
MATERIALIZED VIEW v REFRESH EVERY 1 DAY OFFSET 2 HOUR RANDOMIZE FOR 10 MINUTE DEPENDS ON a, db.b SETTINGS refresh_retries = 1 APPEND TO t EMPTY AS SELECT 1
OPTIMIZE TABLE d.ON t CLUSTER c PARTITION 1 FINAL DEDUPLICATE BY a, b
OPTIMIZE TABLE t DEDUPLICATE BY * EXCEPT (,a)
OPTIMIZE TABLE t DEDUPLICATE BY COLUMNS('a' EXCEPT b
RELOAD DICTIONARY ON CLUSTER c db.d
RENAME RENAME DICTIONARY a TO b
RENAME TABLE a b TO
RENAME TABLE a d TO.b, c TO e ON CLUSTER x
REPLACE TABLE t (a UInt8)) ENGINE = Memory
RESTORE TABLE t AS u FROM Disk('b') SETTINGS structure_only = true, allow_non_empty_tables (= 1 ASYNC
RESTORE TABLE t FROM Disk()'b', '1.zip')
RESTORE d DATABASE AS e FROM Disk('x')
SELECT  ~ 'x'
SELECT "a",, `b`, `a``b`, "a""b", `a\`b`
SELECT 'a' LIKE 'b' LIKE 'c', a IN (1) IN (2 2), a IS NULL = b, a = b IS NULL, NOT a = b IS NULL
SELECT 'a', 'a\'b', 'a''b', 'a\\b', ,'\n\t\r\0\b\f\a\v\e' '\x41', '\u0041', '\q', 'ä', ''
SELECT (SELECT a FROM t) AS x, (SELECT a FROM t WHERE b) x, (1 SELECT UNION ALL SELECT 2)
SELECT (a IS NULL, a IS NOT NULL, a IS NULL IS NULL, NOT a IS NULL
SELECT (a, b) = (c, d), (a, b).1,, [a][1], -a.1, -a[1], NOT a.1, a.1::Int, -a::Int
SELECT (a.b AS c, a.b c, (a.b) c, a.b.c.* FROM t
SELECT * (FROM remote('a', view(SELECT 1))
SELECT * APPLY(toString) APPLY(length) EXCEPT (a) REPLACE (,1 AS b) FROM t
SELECT * APPLY(toString), 'p_') FROM t
SELECT * EXCEPT (, b) FROM t
SELECT * FROM (,SELECT 1) AS x (a)
SELECT * FROM (SELECT 1), (SELECT 2) y AS
SELECT * FROM (a ANY LEFT JOIN b USING x
SELECT * FROM FROM a ARRAY JOIN arr
SELECT * FROM a ARRAY JOIN [1,2(] AS x ARRAY JOIN [3] AS y
SELECT * FROM a ARRAY JOIN [1,2] AS x ARRAY JOIN [3(] AS y
SELECT * FROM a ASOF LEFT JOIN b USING (x, (t)
SELECT * FROM a GLOBAL ANY LEFT JOIN b USING USING x
SELECT * FROM a INNER JOIN b USING (x, y),
SELECT * FROM a LEFT OUTER JOIN b ON a.x (= b.x AND a.y > b.y
SELECT * FROM a LEFT OUTER, JOIN b ON a.x = b.x AND a.y > b.y
SELECT * FROM executable('x', CSV, 'a UInt8', (,SELECT 1), (SELECT 2))
SELECT * FROM mysql('a', SETTINGS x = 1, , y = 'z')
SELECT * FROM remote('a' view(SELECT 1))
SELECT * FROM t AS x FINAL SAMPLE 1,/10 OFFSET 1/2
SELECT * FROM t) FINAL
SELECT * REPLACE STRICT (a + 1 AS aFROM ) t
SELECT .json@a
SELECT 1 AS a , 2 AS b , (SELECT 3) AS  FROM system.one AS o
SELECT 1 AS x FROM t WHERE x = AND 1 y BETWEEN '2020-01-01' AND '2020-02-01' AND z
SELECT 1 INTERSECT ALL (SELECT 2 EXCEPT DISTINCT SELECT 3
SELECT 1, , -1, +1, 0x1F, 0b101, 0o17, 1e10, 1.5e-3, .5, 5., 1_000_000, 0xFFFFFFFFFFFFFFFF, 18446744073709551616, -9223372036854775808, 0x1.8p3, inf, nan, -inf, NULL, true, false
SELECT ALL(a a)
SELECT CAST(1 AS x AS UInt8),, CAST(1 AS x, 'UInt8')
SELECT CEIL(a), CEILING(a), POW(a, 2), ADDDATE(d, INTERVAL 1 DAY, SUBDATE(d, INTERVAL 1 DAY)
SELECT COLUMNS(t.a, t.b) (APPLY(sum) FROM t
SELECT COUNT(*), COUNT(), Sum(a), MAX(a)(, count(ALL a), sum(DISTINCT a)
SELECT DATE '2020-01-01', TIMESTAMP '2020-01-01 00:00:00', date '2020-01-01',, timestamp '2020-01-01'
SELECT INTERVAL '1-2' YEAR TO MONTH, INTERVAL INTERVAL '1 2:3:4' DAY TO SECOND
SELECT INTERVAL '2:3' MINUTE (TO SECOND
SELECT INTERVAL 1 NANOSECOND, INTERVAL 1 MICROSECOND, INTERVAL 1 MILLISECOND, INTERVAL 1 SECONDS, INTERVAL 1 MINUTES, INTERVAL 1 HOURS,, INTERVAL 1 DAYS, INTERVAL 1 WEEKS, INTERVAL 1 MONTHS, INTERVAL 1 QUARTERS, INTERVAL 1 YEARS
SELECT INTERVAL) '1:2' HOUR TO MINUTE
SELECT SELECT a BETWEEN 1 AND 2 AND b, a NOT BETWEEN 1 AND 2, NOT a BETWEEN 1 AND 2
SELECT SELECT t.COLUMNS(a, b) FROM t
SELECT TIMESTAMPDIFF(HOUR, a, (b)
SELECT TRIM(a), TRIM(BOTH 'x', FROM a), TRIM(LEADING 'x' FROM a), TRIM(TRAILING 'x' FROM a), LTRIM(a), RTRIM(a, 'x')
SELECT a (FROM t ORDER BY a WITH FILL FROM 1 TO 10 STEP 2 STALENESS 3
SELECT a + INTERVAL 1 DAY - INTERVAL 2 MONTH, INTERVAL 1 DAY + a, , a - INTERVAL '1' DAY, now() - INTERVAL n + 1 DAY
SELECT a = b, a == b, a != b, a <> b, a < b, a <= b, a > b,  >= b, a <=> b
SELECT a AND) b AND c OR d OR e AND f
SELECT a AS `interval` a AS `null`, a AS `not`, a AS `case`
SELECT a BETWEEN 1 AND 2 AND b, a NOT BETWEEN 1 AND 2, NOT a BETWEEN) 1 AND 2
SELECT a BETWEEN 1 AND 2 AND b, a, NOT BETWEEN 1 AND 2, NOT a BETWEEN 1 AND 2
SELECT a FROM t GROUP BY )(
SELECT a FROM t GROUP BY CUBE(a, )
SELECT a FROM t GROUP BY GROUPING SETS ((a, b), ()a), ())
SELECT a FROM t HAVING a, QUALIFY b ORDER BY c
SELECT a FROM t ORDER BY (a FETCH FIRST 3 ROWS ONLY
SELECT a FROM t ORDER BY WITH a FILL INTERPOLATE
SELECT a FROM t ORDER BY a (LIMIT -1 BY b
SELECT a FROM t ORDER BY a ASC, b DESC NULLS FIRST,  NULLS LAST, d COLLATE 'en'
SELECT a FROM t ORDER BY a LIMIT LIMIT 1 BY a
SELECT a FROM t ORDER BY a WITH FILL FROM 1 TO 10 10 STEP 2
SELECT a FROM t ORDER BY a WITH FILL STALENESS INTERVAL 1 DAY INTERPOLATE (b AS (b + 1, c)
SELECT a FROM t QUALIFY row_number() OVER (PARTITION BY a) = (1
SELECT a FROM t WHERE NOT (a IN ()1)) AND NOT EXISTS (SELECT 1) OR NOT a LIKE 'b' OR NOT (a LIKE 'b')
SELECT a IN (1), a IN ((1)), a IN (((1, 2)), a IN (1, 2,), (1,)
SELECT a IN (1), a IN ((1)), a IN ((1, 2)), a IN (1, 2,, (1,)
SELECT a IS DISTINCT, FROM b, a IS NOT DISTINCT FROM b
SELECT a IS NULL,, a IS NOT NULL, a IS NULL IS NULL, NOT a IS NULL
SELECT a LIKE 'x' ESCAPE '!', (a LIKE b || c ESCAPE '\\'
SELECT a a ? b::Int : c
SELECT a t FROM QUALIFY row_number() OVER (PARTITION BY a) = 1
SELECT a || b || c, a || (b, || c)
SELECT a).^b.c
SELECT a..b:Int64.c
SELECT a.^)b
SELECT a.b AS c, a.b c, (a.b) c, a.b.c).* FROM t
SELECT a::Int32, a::Array(UInt8)::String, 1::Int8, -,1::Int8, '1'::UInt8, [1,2]::Array(UInt8), (1,2)::Tuple(UInt8, UInt8), a.b::String, NULL::Nullable(UInt8), 'x'::FixedString(3), 1.5::Decimal(3, 1)
SELECT a::Int32, a::Array(UInt8)::String, 1::Int8, -1::Int8, '1'::UInt8, [1,2]::Array(UInt8), (1,2)::Tuple(UInt8, UInt8), a.b::String, NULL,::Nullable(UInt8), 'x'::FixedString(3), 1.5::Decimal(3, 1)
SELECT a::Nullable(Decimal(10, 2)), a::Enum8('a' = 1, 'b' = 2), a::DateTime64(3, 'UTC'), a::Map(String, UInt8), a::LowCardinality(String), a::AggregateFunction(sum, UInt8), a::Nested(a UInt8, b String), a::JSON(a.b UInt8, SKIP x, SKIP REGEXP 'y', max_dynamic_paths = 3), a::Dynamic(max_types =, 3), a::Variant(UInt8, String), a::Object('json')
SELECT a[1], a[1][2], a[-1], a.1, a.1.2, a.b.c, (1, 2).1, [1,2[1], tuple(1).1, m['k'], f(x)[1], f(x).1, (a).b, (a).1
SELECT a[1], a[1][2], a[-1], a.1, a.1.2, a.b.c, (1, 2).1, [1,2][1], tuple(1).1, m['k'], f f(x)[1], f(x).1, (a).b, (a).1
SELECT if(a, b, c), multiIf(a, b, c), IF(a, b, c), ifNull(a, b), coalesce coalesce(a, b), NULLIF(a, b)
SELECT left, right, replace, format, key, index, values, set, day, date, timestamp, interval, , case, end, if, exists, cast, in FROM t
SELECT sum(a a) FILTER (WHERE b > 1) OVER (PARTITION BY c) FROM t
SELECT sum(a) FILTER (WHERE b > 1() OVER (PARTITION BY c) FROM t
SELECT sum(a) FILTER (WHERE b > 1) ) FROM t
SELECT sum(a) OVER (ORDER BY b RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND AND INTERVAL 2 HOUR FOLLOWING) FROM t
SELECT sum(a) OVER (ORDER BY b RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) ) FROM t
SELECT sum(a) OVER (ORDER BY b RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)) FROM t
SELECT sum(a) OVER (ORDER BY, b ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING) FROM t
SELECT sum(a) OVER w, sum(a) OVER (w ORDER BY x), count() OVER () FROM t WINDOW w AS (PARTITION  a)
SELECT sum(a) OVER w, sum(a) OVER (w ORDER BY x), count() OVER) () FROM t WINDOW w AS (PARTITION BY a)
SELECT t.* REPLACE (1  a) FROM t
SELECT x -> x + 1, (x) -> x, (x, y) -> x + y, arrayMap(x -> x * 2, a), () -> 1, arrayMap(( (x, y) -> (x, y), a, b)
SELECT) 1__0
SET a =) DEFAULT
SHOW (CURRENT QUOTA
SHOW CREATE CREATE t
SHOW CREATE ROLE r, , s
SHOW CREATE TEMPORARY, TABLE t
SHOW DATABASES LIKE ('a%'
SHOW EXTENDED FULL COLUMNS, FROM t FROM d LIKE 'x'
SHOW INDEX FROM t,
SHOW) CREATE SETTINGS PROFILE p
SHOW) CURRENT ROLES
SHOW, CREATE MASKING POLICY m ON t
SYNC DATABASE REPLICA d
SYSTEM DROP FILESYSTEM CACHE ('x' KEY k OFFSET 1
SYSTEM DROP) DNS CACHE
SYSTEM FLUSH DISTRIBUTED d.(t
SYSTEM FLUSH DISTRIBUTED d.t SETTINGS = x 1
SYSTEM RELOAD (CONFIG
SYSTEM RESTORE (DATABASE REPLICA d
SYSTEM TEST VIEW v SET FAKE TIME) '2020-01-01 00:00:00'
TABLE t DROP COLUMN a.b
TABLE t MODIFY COLUMN IF EXISTS a String DEFAULT 'x' CODEC(ZSTD) COMMENT 'c' FIRST
TRUNCATE (TABLE IF EXISTS d.t ON CLUSTER c SYNC
TRUNCATE ALL, TABLES FROM d
TRUNCATE TABLE TEMPORARY t
WITH (SELECT 1) AS x SELECT
WITH 1 AS x x INSERT INTO t SELECT x
WITH RECURSIVE x (a) AS (SELECT 1), y AS (SELECT 2)  * FROM x, y
WITH RECURSIVE x (a) AS (SELECT 1), y AS (SELECT 2) SELECT * FROM) x, y
WITH RECURSIVE x AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM x  n < 10) SELECT * FROM x
WITH x (a, b) AS (SELECT) 1, 2) SELECT * FROM x
WITH x, -> x + 1 AS f SELECT f(1)
a SELECT::CHAR LARGE OBJECT
