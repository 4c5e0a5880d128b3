//! Aggregates that keep values stop within a batch, before memory has run out.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryViewArray};
use basalt_error::ErrorCode;
use basalt_profile::Account;
use basalt_types::DataType;

use basalt_functions::aggregate::{Groups, bind};
use basalt_functions::{Context, SettingValues};

#[global_allocator]
static ALLOCATOR: basalt_profile::Counting<std::alloc::System> =
    basalt_profile::Counting(std::alloc::System);

const LIMIT: usize = 20_000_000;

fn limited() -> Context {
    let setting = ("max_memory_usage".to_owned(), LIMIT.to_string());
    Context {
        settings: SettingValues::new(BTreeMap::from([setting]), |_| None),
        ..Context::default()
    }
}

#[test]
fn a_batch_that_leaves_too_much_ends_before_all_of_it_is_kept() {
    let bytes = [b'x'; 8000];
    let strings = BinaryViewArray::from_iter_values(vec![&bytes[..]; 20_000]);
    let batch: ArrayRef = Arc::new(strings);
    let ids: Vec<u32> = (0..20_000).collect();
    let groups = Groups {
        ids: Some(&ids),
        num_groups: ids.len(),
        num_rows: ids.len(),
    };
    for name in ["any", "max", "groupArray", "groupUniqArray", "argMax"] {
        let account = Account::limited(LIMIT);
        let _entered = account.enter();
        let args = vec![Arc::clone(&batch); if name == "argMax" { 2 } else { 1 }];
        let types = vec![DataType::String; args.len()];
        let bound = bind(name, &[], &types, &limited()).expect(name);
        let mut states = (bound.factory)();
        let Err(error) = states.update(&args, groups) else {
            // What is the same for all groups, or only shown, takes nothing.
            assert!(account.held_bytes() < 2 * LIMIT, "{name}");
            continue;
        };
        assert_eq!(error.code(), ErrorCode::MEMORY_LIMIT_EXCEEDED, "{name}");
        // A buffer that doubles has room for twice of what is in it.
        let held_bytes = account.held_bytes();
        assert!(held_bytes < 4 * LIMIT, "{name}: {held_bytes}");
    }
}
