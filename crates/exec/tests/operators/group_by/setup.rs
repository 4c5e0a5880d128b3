//! Rows of all types, and the same grouping of them by DataFusion's operator and by ours.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BinaryViewArray, Decimal128Array, Decimal256Array, FixedSizeBinaryArray,
    Float64Array, Int64Array, ListArray, RecordBatch, UInt8Array, UInt16Array, UInt32Array,
};
use arrow::datatypes::{Field, Int32Type, Schema, i256};
use basalt_analyzer::udaf::{AggregateUdf, aggregate_udf};
use basalt_functions::Context;
use basalt_functions::aggregate::bind;
use basalt_types::DataType;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::aggregate::{AggregateExprBuilder, AggregateFunctionExpr};
use datafusion::physical_expr::expressions::{Column, lit};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode, PhysicalGroupBy};
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;

use basalt_exec::group_by::options::Tuning;
use basalt_exec::group_by::{AggregateSpec, GroupByExec, Grouping, Options, Thresholds};

/// A row as numbers, from which columns of all types are made.
pub(super) type Row = (Option<u8>, Option<u16>, Option<i64>, Option<u32>);

/// The value of each row.
fn array<V, A: Array + FromIterator<V> + 'static>(
    rows: &[Row],
    value: impl Fn(&Row) -> V,
) -> ArrayRef {
    Arc::new(rows.iter().map(value).collect::<A>())
}

fn batch(rows: &[Row]) -> RecordBatch {
    let text = |n: u16| match n % 3 {
        0 => n.to_string().into_bytes(),
        1 => format!("a long string, longer than a view: {n}").into_bytes(),
        _ => Vec::new(),
    };
    let decimals: Decimal128Array = rows
        .iter()
        .map(|r| r.2.map(|n| i128::from(n) << 40))
        .collect();
    let wide: Decimal256Array = rows
        .iter()
        .map(|r| {
            r.2.map(|n| i256::from_parts(u128::from(n.unsigned_abs()), i128::from(n) << 64))
        })
        .collect();
    let code = |n: u16| [7, 0, n.to_le_bytes()[0], n.to_le_bytes()[1], 9];
    let codes = rows.iter().map(|r| r.1.map(code));
    let codes = FixedSizeBinaryArray::try_from_sparse_iter_with_size(codes, 5).unwrap();
    let lists = rows
        .iter()
        .map(|r| r.0.map(|n| vec![Some(i32::from(n)), None]));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("u8", array::<_, UInt8Array>(rows, |r| r.0)),
        ("u16", array::<_, UInt16Array>(rows, |r| r.1)),
        ("i64", array::<_, Int64Array>(rows, |r| r.2)),
        ("u32", array::<_, UInt32Array>(rows, |r| r.3)),
        ("text", array::<_, BinaryViewArray>(rows, |r| r.1.map(text))),
        (
            "float",
            array::<_, Float64Array>(rows, |r| r.1.map(|n| f64::from(n) - 2.0)),
        ),
        (
            "decimal",
            Arc::new(decimals.with_precision_and_scale(38, 5).unwrap()),
        ),
        (
            "wide",
            Arc::new(wide.with_precision_and_scale(76, 5).unwrap()),
        ),
        ("code", Arc::new(codes)),
        (
            "list",
            Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists)),
        ),
        ("plain", array::<_, UInt32Array>(rows, |r| r.3.unwrap_or(0))),
        ("small", array::<_, UInt8Array>(rows, |r| r.0.unwrap_or(9))),
        (
            "signed",
            array::<_, Int64Array>(rows, |r| r.2.unwrap_or(-70_000)),
        ),
    ];
    let fields = columns.iter().map(|(name, column)| {
        Field::new(
            *name,
            column.data_type().clone(),
            !["plain", "small", "signed"].contains(name),
        )
    });
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    RecordBatch::try_new(schema, columns.into_iter().map(|c| c.1).collect()).unwrap()
}

pub(super) fn input(partitions: &[Vec<Vec<Row>>]) -> Arc<dyn ExecutionPlan> {
    let partitions: Vec<Vec<RecordBatch>> = partitions
        .iter()
        .map(|p| p.iter().map(|rows| batch(rows)).collect())
        .collect();
    MemorySourceConfig::try_new_exec(&partitions, batch(&[]).schema(), None).unwrap()
}

pub(super) fn column(input: &Arc<dyn ExecutionPlan>, name: &str) -> Arc<dyn PhysicalExpr> {
    Arc::new(Column::new_with_schema(name, &input.schema()).unwrap())
}

/// An aggregate over columns of the input, as analysis makes it.
pub(super) fn aggregate(
    input: &Arc<dyn ExecutionPlan>,
    name: &str,
    arg: Option<(&str, DataType)>,
) -> Arc<AggregateFunctionExpr> {
    let types: Vec<DataType> = arg.iter().map(|(_, data_type)| data_type.clone()).collect();
    let bound = bind(name, &[], &types, &Context::default()).unwrap();
    let udf = aggregate_udf(format!("{name}{types:?}"), bound);
    let args = match arg {
        Some((column_name, _)) => vec![column(input, column_name)],
        None => vec![lit(1u8)],
    };
    let builder = AggregateExprBuilder::new(udf, args).schema(input.schema());
    Arc::new(builder.alias(format!("{name}{types:?}")).build().unwrap())
}

pub(super) fn aggregates(input: &Arc<dyn ExecutionPlan>) -> Vec<Arc<AggregateFunctionExpr>> {
    let nullable = |t: DataType| DataType::Nullable(Arc::new(t));
    vec![
        aggregate(input, "count", None),
        aggregate(input, "sum", Some(("plain", DataType::UInt32))),
        aggregate(input, "sum", Some(("i64", nullable(DataType::Int64)))),
        aggregate(input, "max", Some(("text", nullable(DataType::String)))),
        aggregate(
            input,
            "uniqExact",
            Some(("u16", nullable(DataType::UInt16))),
        ),
        aggregate(input, "min", Some(("plain", DataType::UInt32))),
    ]
}

pub(super) fn group_by(input: &Arc<dyn ExecutionPlan>, keys: &[&str]) -> PhysicalGroupBy {
    let key = |name: &&str| (column(input, name), (*name).to_owned());
    PhysicalGroupBy::new_single(keys.iter().map(key).collect())
}

pub(super) fn theirs(input: &Arc<dyn ExecutionPlan>, keys: &[&str]) -> Arc<dyn ExecutionPlan> {
    let whole: Arc<dyn ExecutionPlan> = Arc::new(CoalescePartitionsExec::new(Arc::clone(input)));
    let aggregates = aggregates(input);
    let filters = vec![None; aggregates.len()];
    let exec = AggregateExec::try_new(
        AggregateMode::Single,
        group_by(input, keys),
        aggregates,
        filters,
        whole,
        input.schema(),
    );
    Arc::new(exec.unwrap())
}

pub(super) fn grouping(input: &Arc<dyn ExecutionPlan>, keys: &[&str]) -> Grouping {
    let spec = |expr: &Arc<AggregateFunctionExpr>| {
        let udf = expr.fun().inner().downcast_ref::<AggregateUdf>().unwrap();
        AggregateSpec {
            bound: udf.bound().clone(),
            args: expr.expressions(),
        }
    };
    Grouping {
        keys: group_by(input, keys).input_exprs(),
        aggregates: aggregates(input).iter().map(spec).collect(),
        schema: theirs(input, keys).schema(),
        thresholds: Thresholds::default(),
        top: None,
        kept_keys: None,
    }
}

pub(super) fn ours(input: &Arc<dyn ExecutionPlan>, keys: &[&str], tuning: Tuning) -> GroupByExec {
    let grouping = Arc::new(grouping(input, keys));
    GroupByExec::try_new(Arc::clone(input), grouping, 3)
        .unwrap()
        .with_options(Options {
            thresholds: Thresholds::Given(tuning),
            ..Options::default()
        })
}
