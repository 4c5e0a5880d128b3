//! Declares how queries run: threads, batches, the ways of operators to work.

use basalt_exec::codes::NumberedKeys;

use super::{Setting, setting};
use crate::settings::kind::Kind::{Arms, Bool, NonZeroUInt64, UInt64, Word, Words};

pub(super) const SETTINGS: &[Setting] = &[
    setting(
        "max_threads",
        UInt64,
        "0",
        "Threads of a query; 0 is one for each processor.",
    ),
    setting(
        "max_block_size",
        NonZeroUInt64,
        "65409",
        "Rows of a batch between operators, at most.",
    ),
    setting(
        "group_by_strategy",
        Word(
            "Enum",
            &[
                "auto",
                "dense",
                "trivial",
                "trivial_parallel",
                "two_level",
                "splitting",
                "splitting_fast_range",
                "local_shared",
                "local_splitting_queues",
                "local_buffered_shared",
                "datafusion",
            ],
        ),
        "auto",
        "How threads share the work of GROUP BY; auto decides while it runs. datafusion is the operator of that library, for which -0 and 0 are one key.",
    ),
    setting(
        "group_by_thresholds",
        Word("Enum", &["usual", "tiny"]),
        "usual",
        "When GROUP BY changes its way of working: where it pays, or after a handful of rows, for tests.",
    ),
    setting(
        "group_by_numbered_keys",
        Word("Enum", &NumberedKeys::NAMES),
        "auto",
        "Whether GROUP BY works on numbers of strings that MergeTree tables store with dictionaries: where few are different, always (for tests), or never.",
    ),
    setting(
        "group_by_hash",
        Word("Enum", &["fold", "zero"]),
        "fold",
        "The hash of keys in GROUP BY; zero is the same for all of them, for tests.",
    ),
    setting(
        "sort_strategy",
        Word(
            "Enum",
            &[
                "auto",
                "in_order",
                "nearly_in_order",
                "top",
                "counting",
                "radix",
                "ranks",
                "comparison",
                "datafusion",
            ],
        ),
        "auto",
        "How ORDER BY puts rows in order: auto decides by the rows. in_order takes apart stretches that are in order already, nearly_in_order takes out rows that are not, counting counts keys of few bits, radix counts digits, ranks does so with strings numbered first, comparison compares packed keys; what the rows do not allow is done by radix. top keeps the best rows only wherever there is a limit. datafusion is the operator of that library.",
    ),
    setting(
        "join_algorithm",
        Words(
            "JoinAlgorithm",
            &[
                "full_sorting_merge",
                "grace_hash",
                "parallel_hash",
                "direct",
                "prefer_partial_merge",
                "ie_join",
                "hash",
                "partial_merge",
                "parallel_full_sorting_merge",
                "auto",
                "default",
            ],
        ),
        "direct,parallel_hash,hash,ie_join",
        "How rows of a JOIN find each other; the first that Basalt has decides: hash, parallel_hash, auto and default fill a hash table, grace_hash and all with merge in their names sort both sides, which may go to temporary files, where keys are integers, strings, decimals or dates and an outer join has no condition beside them.",
    ),
    setting(
        "compile_aggregate_expressions",
        Bool,
        "1",
        "Compile aggregations without GROUP BY or by few small integers, with their condition and expressions, to machine code where it pays and LLVM's library is there.",
    ),
    setting(
        "min_count_to_compile_aggregate_expression",
        UInt64,
        "3",
        "Queries with the same aggregation from which on it is compiled unless it is known that this does not pay; 0 is at once, and the query waits.",
    ),
    setting(
        "compile_expressions",
        Bool,
        "1",
        "Compile expressions of several functions of numbers to machine code where it pays and LLVM's library is there.",
    ),
    setting(
        "min_count_to_compile_expression",
        UInt64,
        "3",
        "Queries with the same expression from which on it is compiled unless it is known that this does not pay; 0 is at once, and the query waits.",
    ),
    setting(
        "compiled_expression_cache_size",
        UInt64,
        "134217728",
        "Bytes of compiled code and of the texts of what is compiled that are kept for the queries of all sessions, set by SET or on the command line. What was asked for longest ago goes first.",
    ),
    setting(
        "jit_verify",
        Bool,
        "0",
        "Run compiled aggregations and expressions both ways and compare, for tests.",
    ),
    setting(
        "simd_level",
        Word(
            "Enum",
            &["auto", "scalar", "neon", "sse42", "avx2", "avx512"],
        ),
        "auto",
        "The widest instructions that loops may use, as far as the processor has them; for the whole process until its next query.",
    ),
    setting(
        "force_choice",
        Arms,
        "",
        "What is not to be decided by measuring, like 'filter=all, average_by_byte_key=runs': arms of choices by their names in system.adaptive_choices; for the whole process until its next query.",
    ),
    setting(
        "optimizer",
        Bool,
        "1",
        "Rewrite plans before they run; off only for tests.",
    ),
    setting(
        "optimize_group_by_function_keys",
        Bool,
        "1",
        "GROUP BY computes keys that are functions of other keys after the grouping.",
    ),
    setting(
        "optimize_arithmetic_operations_in_aggregate_functions",
        Bool,
        "1",
        "Compute sum(x + c) for integers as sum(x) + c * count(x).",
    ),
    setting(
        "optimize_trivial_group_by_limit_query",
        Bool,
        "1",
        "A LIMIT of a GROUP BY without ORDER BY takes the first groups by their keys, so that rows of others need not be grouped.",
    ),
    setting(
        "optimize_count_from_files",
        Bool,
        "1",
        "Where no column of a file is needed, rows are counted without reading their values.",
    ),
    setting(
        "optimize_injective_functions_in_group_by",
        Bool,
        "1",
        "GROUP BY takes x for f(x) where f gives different values for different ones.",
    ),
    setting(
        "short_circuit_function_evaluation",
        Word(
            "ShortCircuitFunctionEvaluation",
            &["enable", "force_enable", "disable"],
        ),
        "enable",
        "Branches that are not taken are not evaluated; Basalt always does so.",
    ),
];
