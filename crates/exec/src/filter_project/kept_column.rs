//! A column to which the values of those rows are appended that pass.

use std::cell::OnceCell;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayData, ArrayRef, AsArray, BooleanArray, BooleanBufferBuilder, make_array,
};
use arrow::buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow::compute::{FilterBuilder, FilterPredicate, concat};
use arrow::datatypes::{ArrowNativeType, DataType};
use basalt_kernels::Bitmap;
use basalt_kernels::filter::append_selected;
use datafusion::common::internal_datafusion_err;
use datafusion::error::Result;

/// Which rows of a batch pass.
pub(crate) struct Selection {
    rows: BooleanBuffer,
    /// The same for Arrow's filter, made when a column needs it.
    of_arrow: OnceCell<FilterPredicate>,
}

impl Selection {
    pub(crate) fn new(rows: BooleanBuffer) -> Self {
        Self {
            rows,
            of_arrow: OnceCell::new(),
        }
    }

    /// The values of the rows that pass.
    ///
    /// # Errors
    /// If the array has another number of rows.
    pub(crate) fn kept(&self, array: &ArrayRef) -> Result<ArrayRef> {
        match fixed_column(array.data_type()) {
            Some(mut column) => {
                column.append(array, self)?;
                column.finish()
            }
            None => self.filter(array.as_ref()),
        }
    }

    fn bits(&self) -> Result<Bitmap<'_>> {
        let rows = &self.rows;
        Bitmap::try_new(rows.values(), rows.offset(), rows.len())
            .ok_or_else(|| internal_datafusion_err!("a selection without bits"))
    }

    fn filter(&self, array: &dyn Array) -> Result<ArrayRef> {
        let of_arrow = self.of_arrow.get_or_init(|| {
            let rows = BooleanArray::new(self.rows.clone(), None);
            FilterBuilder::new(&rows).optimize().build()
        });
        Ok(of_arrow.filter(array)?)
    }
}

/// A column that grows.
pub(super) trait KeptColumn: Send {
    /// Appends the values of the rows of `array` that pass.
    fn append(&mut self, array: &ArrayRef, selection: &Selection) -> Result<()>;

    /// The column; a new one begins.
    fn finish(&mut self) -> Result<ArrayRef>;
}

/// A column of values of that type.
pub(super) fn kept_column(data_type: &DataType) -> Box<dyn KeptColumn> {
    fixed_column(data_type).unwrap_or_else(|| Box::<Pieces>::default())
}

/// The same where there is a kernel for the width of the values.
fn fixed_column(data_type: &DataType) -> Option<Box<dyn KeptColumn>> {
    Some(match data_type.primitive_width()? {
        1 => Box::new(Fixed::<u8>::new(data_type)),
        2 => Box::new(Fixed::<u16>::new(data_type)),
        4 => Box::new(Fixed::<u32>::new(data_type)),
        8 => Box::new(Fixed::<u64>::new(data_type)),
        16 => Box::new(Fixed::<i128>::new(data_type)),
        _ => return None,
    })
}

/// Places behind the last value that a kernel may write to.
const ROOM_ROWS: usize = 64;

/// Values of a fixed width.
struct Fixed<T> {
    data_type: DataType,
    values: Vec<T>,
    /// Which rows have a value, once some have none.
    valid: Option<BooleanBufferBuilder>,
    /// Rows of the largest column so far: the next one will have about as many.
    most_rows: usize,
}

impl<T> Fixed<T> {
    fn new(data_type: &DataType) -> Self {
        Self {
            data_type: data_type.clone(),
            values: Vec::new(),
            valid: None,
            most_rows: 0,
        }
    }
}

impl<T: ArrowNativeType> KeptColumn for Fixed<T> {
    fn append(&mut self, array: &ArrayRef, selection: &Selection) -> Result<()> {
        let num_before = self.values.len();
        let data = array.to_data();
        let (values, bits) = (data.buffer::<T>(0), selection.bits()?);
        let values = values.get(..array.len());
        let values = values.filter(|values| values.len() == bits.len());
        let values =
            values.ok_or_else(|| internal_datafusion_err!("a column of another length"))?;
        if num_before == 0 {
            self.values.reserve(self.most_rows);
        }
        append_selected(values, bits, &mut self.values);
        let num_more = self.values.len() - num_before;
        match array.nulls().filter(|nulls| nulls.null_count() > 0) {
            Some(nulls) => {
                let valid = BooleanArray::new(nulls.inner().clone(), None);
                let valid = selection.filter(&valid)?;
                let bits = self.valid.get_or_insert_with(|| all_valid(num_before));
                bits.append_buffer(valid.as_boolean().values());
            }
            None => {
                if let Some(bits) = &mut self.valid {
                    bits.append_n(num_more, true);
                }
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<ArrayRef> {
        let values = std::mem::take(&mut self.values);
        self.most_rows = self.most_rows.max(values.len() + ROOM_ROWS);
        let valid = self.valid.take().map(|mut bits| bits.finish());
        let data = ArrayData::builder(self.data_type.clone())
            .len(values.len())
            .add_buffer(Buffer::from_vec(values))
            .nulls(valid.map(NullBuffer::new))
            .build()?;
        Ok(make_array(data))
    }
}

fn all_valid(num_rows: usize) -> BooleanBufferBuilder {
    let mut bits = BooleanBufferBuilder::new(num_rows);
    bits.append_n(num_rows, true);
    bits
}

/// Values of any other type: those of each batch, put together at the end.
#[derive(Default)]
struct Pieces(Vec<ArrayRef>);

impl KeptColumn for Pieces {
    fn append(&mut self, array: &ArrayRef, selection: &Selection) -> Result<()> {
        let kept = selection.filter(array.as_ref())?;
        self.0.push(without_unused_bytes(kept));
        Ok(())
    }

    fn finish(&mut self) -> Result<ArrayRef> {
        let pieces = std::mem::take(&mut self.0);
        Ok(match pieces.as_slice() {
            [only] => Arc::clone(only),
            all => concat(&all.iter().map(AsRef::as_ref).collect::<Vec<_>>())?,
        })
    }
}

/// The same strings, without the bytes of those that did not pass where these are most of them: what keeps the rows
/// would keep the bytes of whole blocks.
fn without_unused_bytes(array: ArrayRef) -> ArrayRef {
    let Some(strings) = array.as_binary_view_opt() else {
        return array;
    };
    let num_held: usize = strings.data_buffers().iter().map(Buffer::len).sum();
    match strings.total_buffer_bytes_used() < num_held / 2 {
        true => Arc::new(strings.gc()),
        false => array,
    }
}
