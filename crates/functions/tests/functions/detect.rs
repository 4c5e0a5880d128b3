//! Checks guesses on texts that leave no doubt.

use std::sync::Arc;

use arrow::array::{AsArray, BinaryViewArray};
use basalt_types::DataType;

use crate::strings_testing::check;
use basalt_functions::{Arg, BoundFunction, Column, Context, registry};

#[test]
fn languages_and_character_sets_are_guessed() {
    check(&[
        (
            "detectLanguage('Je pense que je ne parviendrai jamais à parler français comme un natif.')",
            "String\tfr",
        ),
        (
            "detectLanguageUnknown('Ich bleibe noch ein paar Tage in der schönen Stadt Berlin.')",
            "String\tde",
        ),
        (
            "detectLanguage('Привет, как твои дела сегодня?')",
            "String\tru",
        ),
        ("detectLanguage('')", "String\tun"),
        ("detectLanguage('12345')", "String\tun"),
        ("detectLanguage(1)", "ERR 43"),
        (
            "detectCharset('Ich bleibe f\\xfcr ein paar Tage.')",
            "String\tWINDOWS-1252",
        ),
        ("detectCharset('Привет')", "String\tUTF-8"),
        (
            "detectLanguageUnknown('\\xcf\\xf0\\xe8\\xe2\\xe5\\xf2, \\xea\\xe0\\xea \\xe4\\xe5\\xeb\\xe0 \\xf1\\xe5\\xe3\\xee\\xe4\\xed\\xff')",
            "String\tru",
        ),
    ]);
}

#[test]
fn mixed_texts_have_shares_of_languages() {
    let function = registry::get_scalar("detectLanguageMixed").expect("registered");
    let args = [Arg::new(DataType::String)];
    let bound = BoundFunction::bind(function, &args, &Context::default()).expect("fits");
    let text = "Привет, как твои дела сегодня? Сегодня хорошая погода. Hello, this is English.";
    let column = Column::new(Arc::new(BinaryViewArray::from_iter_values([text, ""])));
    let maps = bound.call(&[column], 2).expect("runs");
    assert_eq!(*maps.data_type(), bound.return_type.physical());
    assert_eq!(maps.as_list::<i32>().value(0).len(), 2);
    assert_eq!(maps.as_list::<i32>().value(1).len(), 0);
}
