//! Declares the settings of formats: field, ClickHouse's name and default, one table.

use std::sync::Arc;

use crate::fixed_settings;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::Tz;
use basalt_types::builder::ReadOptions;
use basalt_types::states::StateForms;
use basalt_types::text::best_effort::DateOrder;
use basalt_types::text::{BoolWords, JsonOptions, PrettyOptions, TextOptions, TimeOutput};

/// A type that a setting's text can be read as.
trait SettingValue: Sized {
    fn parse(text: &str) -> Option<Self>;
}

impl SettingValue for bool {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "1" | "true" => Some(true),
            "0" | "false" | "" => Some(false),
            _ => None,
        }
    }
}

impl SettingValue for u64 {
    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

impl SettingValue for f64 {
    fn parse(text: &str) -> Option<Self> {
        text.parse().ok().filter(|ratio: &f64| ratio.is_finite())
    }
}

impl SettingValue for u8 {
    /// One character; `tab` and `\t` are names of one.
    fn parse(text: &str) -> Option<Self> {
        match text.as_bytes() {
            [byte] => Some(*byte),
            b"\\t" | b"tab" => Some(b'\t'),
            _ => None,
        }
    }
}

impl SettingValue for String {
    fn parse(text: &str) -> Option<Self> {
        Some(text.to_string())
    }
}

impl SettingValue for Tz {
    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

/// How times are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeInput {
    /// The fixed layouts only.
    Basic,
    /// Any layout, day before month.
    BestEffort,
    /// Any layout, month before day.
    BestEffortUs,
}

impl SettingValue for TimeInput {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "basic" => Some(TimeInput::Basic),
            "best_effort" => Some(TimeInput::BestEffort),
            "best_effort_us" => Some(TimeInput::BestEffortUs),
            _ => None,
        }
    }
}

impl SettingValue for TimeOutput {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "simple" => Some(TimeOutput::Simple),
            "iso" => Some(TimeOutput::Iso),
            "unix_timestamp" => Some(TimeOutput::UnixTimestamp),
            _ => None,
        }
    }
}

/// Whether the Pretty formats use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toggle {
    /// As the caller's terminal wants it; off for everything else.
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

impl SettingValue for Toggle {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "auto" => Some(Toggle::Auto),
            other => bool::parse(other).map(|on| if on { Toggle::On } else { Toggle::Off }),
        }
    }
}

/// Declares the fields, their defaults and how a setting's name and text set them.
macro_rules! settings {
    ($($field:ident: $kind:ty = $default:expr;)*) => {
        /// What shapes the formats; each field is the ClickHouse setting of the same name.
        #[derive(Clone, Debug)]
        #[allow(missing_docs, reason = "the fields are ClickHouse's settings")]
        #[allow(clippy::struct_excessive_bools, reason = "independent settings of users")]
        pub struct FormatSettings {
            $(pub $field: $kind,)*
            /// No setting: how the caller's aggregate functions write their states.
            pub state_forms: StateForms,
        }

        impl Default for FormatSettings {
            fn default() -> Self {
                Self { $($field: $default,)* state_forms: |_| None }
            }
        }

        impl FormatSettings {
            /// Names of all settings of formats.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($field),)*];

            /// Whether there is such a setting.
            pub fn has(name: &str) -> bool {
                Self::NAMES.contains(&name) || fixed_settings::is_known(name)
            }

            /// Sets one setting from its text; `false` if it is none of the formats'.
            ///
            /// # Errors
            /// `BAD_ARGUMENTS` if the text is no value of the setting, `NOT_IMPLEMENTED` if it is one that
            /// is not supported.
            pub fn set(&mut self, name: &str, text: &str) -> Result<bool> {
                match name {
                    $(stringify!($field) => {
                        self.$field = SettingValue::parse(text).ok_or_else(|| bad_value(name, text))?;
                    })*
                    _ => return fixed_settings::set(name, text),
                }
                Ok(true)
            }
        }
    };
}

fn bad_value(name: &str, text: &str) -> Error {
    Error::new(
        ErrorCode::BAD_ARGUMENTS,
        format!("Setting {name} does not take the value '{text}'"),
    )
}

settings! {
    session_timezone: Tz = Tz::UTC;
    max_insert_block_size: u64 = 65_505;
    bool_true_representation: String = "true".to_string();
    bool_false_representation: String = "false".to_string();
    date_time_output_format: TimeOutput = TimeOutput::Simple;
    schema_inference_hints: String = String::new();
    schema_inference_make_columns_nullable: bool = true;
    column_names_for_schema_inference: String = String::new();
    date_time_input_format: TimeInput = TimeInput::BestEffort;
    format_csv_delimiter: u8 = b',';
    format_csv_allow_single_quotes: bool = false;
    format_csv_allow_double_quotes: bool = true;
    format_csv_null_representation: String = "\\N".to_string();
    format_tsv_null_representation: String = "\\N".to_string();
    output_format_csv_crlf_end_of_line: bool = false;
    output_format_tsv_crlf_end_of_line: bool = false;
    output_format_csv_serialize_tuple_into_separate_columns: bool = true;
    input_format_csv_deserialize_separate_columns_into_tuple: bool = true;
    input_format_csv_empty_as_default: bool = true;
    input_format_csv_trim_whitespaces: bool = true;
    input_format_csv_allow_variable_number_of_columns: bool = false;
    input_format_csv_skip_first_lines: u64 = 0;
    input_format_csv_skip_trailing_empty_lines: bool = false;
    input_format_csv_detect_header: bool = true;
    input_format_csv_use_best_effort_in_schema_inference: bool = true;
    input_format_csv_try_infer_numbers_from_strings: bool = false;
    input_format_tsv_empty_as_default: bool = false;
    input_format_tsv_skip_first_lines: u64 = 0;
    input_format_tsv_skip_trailing_empty_lines: bool = false;
    input_format_tsv_detect_header: bool = true;
    input_format_tsv_crlf_end_of_line: bool = false;
    input_format_tsv_allow_variable_number_of_columns: bool = false;
    input_format_tsv_use_best_effort_in_schema_inference: bool = true;
    input_format_null_as_default: bool = true;
    input_format_defaults_for_omitted_fields: bool = true;
    input_format_skip_unknown_fields: bool = true;
    input_format_with_names_use_header: bool = true;
    input_format_with_types_use_header: bool = true;
    input_format_allow_errors_num: u64 = 0;
    input_format_allow_errors_ratio: f64 = 0.0;
    input_format_json_read_bools_as_numbers: bool = true;
    input_format_json_read_bools_as_strings: bool = true;
    input_format_json_read_numbers_as_strings: bool = true;
    input_format_json_read_objects_as_strings: bool = true;
    input_format_json_read_arrays_as_strings: bool = true;
    input_format_json_try_infer_numbers_from_strings: bool = false;
    input_format_json_try_infer_named_tuples_from_objects: bool = true;
    input_format_json_defaults_for_missing_elements_in_named_tuple: bool = true;
    input_format_json_ignore_unknown_keys_in_named_tuple: bool = true;
    input_format_json_compact_allow_variable_number_of_columns: bool = false;
    input_format_json_infer_incomplete_types_as_strings: bool = true;
    input_format_json_max_depth: u64 = 1000;
    input_format_max_rows_to_read_for_schema_inference: u64 = 25_000;
    input_format_max_bytes_to_read_for_schema_inference: u64 = 33_554_432;
    input_format_try_infer_integers: bool = true;
    input_format_try_infer_dates: bool = true;
    input_format_try_infer_datetimes: bool = true;
    input_format_try_infer_datetimes_only_datetime64: bool = false;
    input_format_try_infer_exponent_floats: bool = false;
    input_format_values_interpret_expressions: bool = true;
    output_format_json_quote_64bit_integers: bool = false;
    output_format_json_quote_64bit_floats: bool = false;
    output_format_json_quote_denormals: bool = false;
    output_format_json_quote_decimals: bool = false;
    output_format_json_escape_forward_slashes: bool = true;
    output_format_json_named_tuples_as_objects: bool = true;
    output_format_json_map_as_array_of_tuples: bool = false;
    output_format_json_array_of_rows: bool = false;
    format_json_object_each_row_column_for_object_name: String = String::new();
    output_format_json_validate_utf8: bool = false;
    format_custom_escaping_rule: String = "Escaped".to_string();
    format_custom_field_delimiter: String = "\t".to_string();
    format_custom_row_before_delimiter: String = String::new();
    format_custom_row_after_delimiter: String = "\n".to_string();
    format_custom_row_between_delimiter: String = String::new();
    format_custom_result_before_delimiter: String = String::new();
    format_custom_result_after_delimiter: String = String::new();
    input_format_custom_detect_header: bool = true;
    format_regexp: String = String::new();
    format_regexp_escaping_rule: String = "Raw".to_string();
    format_regexp_skip_unmatched: bool = false;
    format_template_row: String = String::new();
    format_template_row_format: String = String::new();
    format_template_resultset: String = String::new();
    format_template_resultset_format: String = String::new();
    format_template_rows_between_delimiter: String = "\n".to_string();
    output_format_decimal_trailing_zeros: bool = false;
    output_format_write_statistics: bool = true;
    output_format_pretty_max_rows: u64 = 1000;
    output_format_pretty_max_column_pad_width: u64 = 250;
    output_format_pretty_max_column_name_width_cut_to: u64 = 24;
    output_format_pretty_max_column_name_width_min_chars_to_cut: u64 = 4;
    output_format_pretty_max_value_width: u64 = 10_000;
    output_format_pretty_max_value_width_apply_for_single_value: bool = false;
    output_format_pretty_color: Toggle = Toggle::Auto;
    output_format_pretty_grid_charset: String = "UTF-8".to_string();
    output_format_pretty_row_numbers: bool = true;
    output_format_pretty_display_footer_column_names: bool = true;
    output_format_pretty_display_footer_column_names_min_rows: u64 = 50;
    output_format_pretty_single_large_number_tip_threshold: u64 = 1_000_000;
    output_format_pretty_highlight_digit_groups: bool = true;
    output_format_pretty_highlight_trailing_spaces: bool = true;
    output_format_pretty_multiline_fields: bool = true;
    output_format_pretty_named_tuples_as_json: bool = true;
    output_format_pretty_fallback_to_vertical: bool = true;
    output_format_pretty_fallback_to_vertical_max_rows_per_chunk: u64 = 10;
    output_format_pretty_fallback_to_vertical_min_table_width: u64 = 250;
    output_format_pretty_fallback_to_vertical_min_columns: u64 = 5;
    output_format_markdown_escape_special_characters: bool = false;
    output_format_sql_insert_max_batch_size: u64 = 65_409;
    output_format_sql_insert_table_name: String = "table".to_string();
    output_format_sql_insert_include_column_names: bool = true;
    output_format_sql_insert_use_replace: bool = false;
    output_format_sql_insert_quote_names: bool = true;
    output_format_parquet_compression_method: String = "zstd".to_string();
    output_format_parquet_string_as_string: bool = true;
    output_format_parquet_fixed_string_as_fixed_byte_array: bool = true;
    output_format_parquet_date_as_uint16: bool = false;
    output_format_parquet_datetime_as_uint32: bool = false;
    output_format_parquet_enum_as_byte_array: bool = true;
    output_format_parquet_row_group_size: u64 = 1_000_000;
    output_format_parquet_row_group_size_bytes: u64 = 536_870_912;
    output_format_parquet_data_page_size: u64 = 1_048_576;
    output_format_parquet_batch_size: u64 = 1024;
    output_format_parquet_max_dictionary_size: u64 = 1_048_576;
    output_format_parquet_write_page_index: bool = true;
    output_format_parquet_write_bloom_filter: bool = false;
    output_format_arrow_compression_method: String = "lz4_frame".to_string();
    output_format_arrow_string_as_string: bool = true;
    output_format_arrow_fixed_string_as_fixed_byte_array: bool = true;
    output_format_arrow_date_as_uint16: bool = false;
    output_format_arrow_low_cardinality_as_dictionary: bool = false;
}

impl FormatSettings {
    /// What shapes the text of values.
    pub fn text_options(&self) -> TextOptions {
        TextOptions {
            time_zone: self.session_timezone,
            time_output: self.date_time_output_format,
            decimal_trailing_zeros: self.output_format_decimal_trailing_zeros,
            bool_words: self.bool_words(),
            json: JsonOptions {
                quote_64bit_integers: self.output_format_json_quote_64bit_integers,
                quote_64bit_floats: self.output_format_json_quote_64bit_floats,
                quote_denormals: self.output_format_json_quote_denormals,
                quote_decimals: self.output_format_json_quote_decimals,
                escape_forward_slashes: self.output_format_json_escape_forward_slashes,
                named_tuples_as_objects: self.output_format_json_named_tuples_as_objects,
                map_as_array_of_tuples: self.output_format_json_map_as_array_of_tuples,
            },
            pretty: PrettyOptions {
                ascii_null: self
                    .output_format_pretty_grid_charset
                    .eq_ignore_ascii_case("ASCII"),
                named_tuples_as_json: self.output_format_pretty_named_tuples_as_json,
            },
        }
    }

    /// The same for tables on a terminal, whose JSON follows no settings.
    pub(crate) fn pretty_text_options(&self) -> TextOptions {
        TextOptions {
            json: JsonOptions {
                quote_denormals: true,
                ..JsonOptions::default()
            },
            ..self.text_options()
        }
    }

    /// How text is read.
    pub fn read_options(&self) -> ReadOptions {
        ReadOptions {
            time_zone: self.session_timezone,
            best_effort: match self.date_time_input_format {
                TimeInput::Basic => None,
                TimeInput::BestEffort => Some(DateOrder::DayFirst),
                TimeInput::BestEffortUs => Some(DateOrder::MonthFirst),
            },
            is_cast: false,
            bool_words: self.bool_words(),
        }
    }

    /// What stands for true and false in fields, if it is not these words.
    pub fn bool_words(&self) -> Option<Arc<BoolWords>> {
        BoolWords::new(
            &self.bool_true_representation,
            &self.bool_false_representation,
        )
    }

    /// Whether rows that cannot be read may be left out.
    pub fn allows_errors(&self) -> bool {
        self.input_format_allow_errors_num > 0 || self.input_format_allow_errors_ratio > 0.0
    }

    /// Rows of a block that a reader gives at most.
    pub fn block_rows(&self) -> usize {
        usize::try_from(self.max_insert_block_size)
            .unwrap_or(usize::MAX)
            .clamp(1, 65_505)
    }
}

#[cfg(test)]
mod tests {
    use super::FormatSettings;

    #[test]
    fn settings_are_set_by_name() {
        let mut settings = FormatSettings::default();
        assert_eq!(settings.set("format_csv_delimiter", "|"), Ok(true));
        assert_eq!(settings.format_csv_delimiter, b'|');
        assert_eq!(
            settings.set("output_format_json_quote_denormals", "true"),
            Ok(true)
        );
        assert!(settings.output_format_json_quote_denormals);
        assert_eq!(settings.set("max_threads", "3"), Ok(false));
        let bad = settings.set("output_format_pretty_max_rows", "many");
        assert_eq!(bad.map_err(|e| e.code().number), Err(36));
        assert!(FormatSettings::NAMES.contains(&"format_csv_delimiter"));
    }
}
