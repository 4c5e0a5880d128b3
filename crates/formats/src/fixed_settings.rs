//! Lists ClickHouse's settings of formats that are known and change no answer here.

use basalt_error::{Error, Result};

/// Settings that change how fast rows are read or written, not which: any value is taken.
const SPEED: &[&str] = &[
    "input_format_allow_seeks",
    "input_format_arrow_use_native_reader",
    "input_format_json_max_string_column_growth_step",
    "input_format_max_block_size_bytes",
    "input_format_max_block_wait_ms",
    "input_format_parallel_parsing",
    "input_format_parquet_bloom_filter_push_down",
    "input_format_parquet_dictionary_filter_push_down",
    "input_format_parquet_enable_row_group_prefetch",
    "input_format_parquet_filter_push_down",
    "input_format_parquet_local_file_min_bytes_for_seek",
    "input_format_parquet_max_block_size",
    "input_format_parquet_memory_high_watermark",
    "input_format_parquet_memory_low_watermark",
    "input_format_parquet_page_filter_push_down",
    "input_format_parquet_prefer_block_bytes",
    "input_format_parquet_preserve_order",
    "input_format_parquet_use_native_reader",
    "input_format_parquet_use_native_reader_v3",
    "input_format_parquet_use_offset_index",
    "input_format_parquet_verify_checksums",
    "input_format_values_deduce_templates_of_expressions",
    "output_format_arrow_parallel_encoding",
    "output_format_arrow_use_native_writer",
    "output_format_parallel_formatting",
    "output_format_parquet_parallel_encoding",
    "output_format_parquet_use_custom_encoder",
    "output_format_pretty_squash_consecutive_ms",
    "output_format_pretty_squash_max_wait_ms",
    "schema_inference_cache_require_modification_time_for_url",
    "schema_inference_use_cache_for_azure",
    "schema_inference_use_cache_for_file",
    "schema_inference_use_cache_for_hdfs",
    "schema_inference_use_cache_for_s3",
    "schema_inference_use_cache_for_url",
];

/// Settings of which only ClickHouse's default is implemented, with that default.
const FIXED: &[(&str, &str)] = &[
    ("format_schema", ""),
    ("input_format_arrow_allow_missing_columns", "1"),
    ("input_format_arrow_case_insensitive_column_matching", "0"),
    (
        "input_format_arrow_skip_columns_with_unsupported_types_in_schema_inference",
        "0",
    ),
    ("input_format_binary_decode_types_in_binary_format", "0"),
    ("input_format_column_name_matching_mode", "auto"),
    ("input_format_csv_allow_cr_end_of_line", "0"),
    ("input_format_csv_allow_whitespace_or_tab_as_delimiter", "0"),
    ("input_format_csv_arrays_as_nested_csv", "0"),
    ("input_format_csv_enum_as_number", "0"),
    ("input_format_csv_missing_nullable_as_empty_string", "0"),
    ("input_format_csv_try_infer_strings_from_quoted_tuples", "1"),
    ("input_format_csv_use_default_on_bad_values", "0"),
    ("input_format_custom_allow_variable_number_of_columns", "0"),
    ("input_format_custom_skip_trailing_empty_lines", "0"),
    ("input_format_force_null_for_omitted_fields", "0"),
    ("input_format_import_nested_json", "0"),
    ("input_format_ipv4_default_on_conversion_error", "0"),
    ("input_format_ipv6_default_on_conversion_error", "0"),
    ("input_format_json_empty_as_default", "0"),
    ("input_format_json_ignore_unnecessary_fields", "1"),
    ("input_format_json_map_as_array_of_tuples", "0"),
    ("input_format_json_named_tuples_as_objects", "1"),
    ("input_format_json_throw_on_bad_escape_sequence", "1"),
    (
        "input_format_json_use_string_type_for_ambiguous_paths_in_named_tuples_inference_from_objects",
        "0",
    ),
    ("input_format_json_validate_types_from_metadata", "1"),
    ("input_format_native_allow_types_conversion", "1"),
    ("input_format_native_decode_types_in_binary_format", "0"),
    ("input_format_parquet_allow_missing_columns", "1"),
    ("input_format_parquet_case_insensitive_column_matching", "0"),
    ("input_format_parquet_import_nested", "0"),
    ("input_format_parquet_local_time_as_utc", "1"),
    (
        "input_format_parquet_skip_columns_with_unsupported_types_in_schema_inference",
        "0",
    ),
    ("input_format_read_datetime_number_as_raw_value", "0"),
    ("input_format_record_errors_file_path", ""),
    ("input_format_try_infer_variants", "0"),
    ("input_format_tsv_enum_as_number", "0"),
    ("input_format_values_accurate_types_of_literals", "1"),
    (
        "output_format_always_write_decimal_point_in_float_and_decimal",
        "0",
    ),
    ("output_format_arrow_record_batch_size", "0"),
    ("output_format_arrow_record_batch_size_bytes", "0"),
    ("output_format_arrow_use_64_bit_indexes_for_dictionary", "0"),
    ("output_format_arrow_use_signed_indexes_for_dictionary", "1"),
    ("output_format_arrow_uuid_as_fixed_byte_array", "0"),
    ("output_format_binary_encode_types_in_binary_format", "0"),
    ("output_format_compression_level", "3"),
    (
        "output_format_csv_header_serialize_tuple_into_separate_columns",
        "1",
    ),
    ("output_format_float_precision", "0"),
    ("output_format_json_pretty_print", "1"),
    ("output_format_json_skip_null_value_in_named_tuples", "0"),
    ("output_format_native_encode_types_in_binary_format", "0"),
    ("output_format_parquet_bloom_filter_bits_per_value", "10.5"),
    ("output_format_parquet_compliant_nested_types", "1"),
    ("output_format_parquet_unsupported_types_as_binary", "0"),
    ("output_format_parquet_version", "2.latest"),
    ("output_format_pretty_glue_chunks", "auto"),
    ("output_format_pretty_use_nbsp_for_padding", "0"),
    ("output_format_trim_fixed_string", "0"),
    ("output_format_values_escape_quote_with_quote", "0"),
    ("schema_inference_make_json_columns_nullable", "0"),
    ("schema_inference_mode", "default"),
];

/// Whether the setting is one of these.
pub(crate) fn is_known(name: &str) -> bool {
    SPEED.contains(&name) || FIXED.iter().any(|(n, _)| *n == name)
}

/// Takes a value that changes nothing; `false` if the setting is none of these.
///
/// # Errors
/// `NOT_IMPLEMENTED` for a value that would change answers.
pub(crate) fn set(name: &str, text: &str) -> Result<bool> {
    let Some((_, default)) = FIXED.iter().find(|(n, _)| *n == name) else {
        return Ok(SPEED.contains(&name));
    };
    let is_default = match text {
        "true" => *default == "1" || *default == "true",
        "false" => *default == "0" || *default == "false",
        text => text == *default,
    };
    if is_default {
        return Ok(true);
    }
    Err(Error::not_implemented(format!(
        "Setting {name} with another value than '{default}'"
    )))
}
