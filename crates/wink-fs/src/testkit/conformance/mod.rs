//! The contract, with one case for each of its sentences.
//!
//! A case is a function that gets a fresh, empty backend, and panics if the backend breaks the sentence that it is
//! named after. There is nothing to skip: every backend and every decorator passes them all.

mod appending;
mod capturing;
mod content;
mod copying;
mod directories;
mod links;
mod listing;
mod living;
mod looking;
mod modes;
mod naming;
mod pages;
mod putting;
mod removing;
mod renaming;
mod replacing;
mod staging;
mod support;
mod writing;

use std::fmt;

use crate::filesystem::Backend;

/// Makes a `#[test]` of each case of the contract, for a backend made by an expression.
///
/// The expression is evaluated once for each test and makes a fresh, empty backend.
///
/// ```
/// mod memory {
///     wink_fs::conformance_suite!(wink_fs::MemoryBackend::new());
/// }
/// ```
///
/// What must live as long as the backend, such as a temporary directory, belongs to the backend; or it
/// comes along as a layer that does nothing:
///
/// ```
/// mod in_a_directory {
///     # struct TempDir;
///     # fn temporary_directory() -> TempDir { TempDir }
///     # fn open(_: &TempDir) -> wink_fs::MemoryBackend { wink_fs::MemoryBackend::new() }
///     use wink_fs::{Backend, Layer, Layered};
///
///     struct Kept(TempDir);
///
///     impl Layer for Kept {}
///
///     fn fresh() -> impl Backend {
///         let directory = temporary_directory();
///         Layered::new(open(&directory), Kept(directory))
///     }
///
///     wink_fs::conformance_suite!(fresh());
/// }
/// ```
#[macro_export]
macro_rules! conformance_suite {
    ($fresh:expr $(,)?) => {
        $crate::__conformance_cases! { ($crate::__conformance_tests) ($fresh) }
    };
}

/// Makes the tests of a suite; the names of cases are unique, so they need no modules.
#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_tests {
    (($fresh:expr) $($topic:ident { $($case:ident)* })*) => {
        $($(
            #[test]
            fn $case() {
                let mut backend = $fresh;
                $crate::testkit::conformance::check(stringify!($case), &mut backend);
            }
        )*)*
    };
}

/// Makes the table of a suite.
macro_rules! table {
    (() $($topic:ident { $($case:ident)* })*) => {
        /// Every case, for a test harness of another kind.
        ///
        /// ```
        /// use wink_fs::{MemoryBackend, testkit::conformance};
        ///
        /// for case in conformance::CASES {
        ///     case.run(&mut MemoryBackend::new());
        /// }
        /// ```
        pub static CASES: &[Case] =
            &[$($(Case { name: stringify!($case), run: $topic::$case }),*),*];
    };
}

/// Passes the list of cases to another macro.
///
/// Cases are listed only here. One that is missing is dead code, of which the compiler warns, because [`CASES`] is all
/// that uses them.
#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_cases {
    (($($receiver:tt)*) ($($arguments:tt)*)) => {
        $($receiver)* ! {
            ($($arguments)*)
            looking {
                the_root_is_always_there_and_is_a_directory
                a_fresh_backend_is_empty
                a_backend_says_what_it_is
                a_path_that_is_not_there_is_not_found
                a_path_through_a_file_is_not_found
                a_path_through_a_link_is_permission_denied
                looking_changes_nothing
                stat_tells_the_size_of_a_file
                a_directory_has_no_size_and_no_mode
                stat_describes_a_link_and_not_its_target
                a_new_entry_was_changed_just_now
                opening_a_directory_is_is_a_directory
                opening_a_link_is_permission_denied
                only_a_link_has_a_target
                a_known_hash_is_the_true_one
                only_a_file_has_a_known_hash
                exists_is_file_and_is_dir_tell_apart
            }
            listing {
                children_come_sorted_by_name
                a_listing_shows_direct_children_only
                a_listing_tells_each_kind
                an_empty_directory_lists_nothing
                listing_a_file_is_not_a_directory
                listing_a_link_is_permission_denied
                a_wide_directory_lists_every_entry
                a_listing_gives_paths_and_targets
                a_listing_gives_sizes_on_request
            }
            content {
                an_opened_file_stays_readable_after_it_is_deleted
                an_opened_file_stays_readable_after_its_directory_is_deleted
                an_opened_file_stays_as_it_was_when_it_is_replaced
                an_opened_file_stays_readable_after_it_is_renamed
                content_is_read_at_any_position
                there_is_nothing_past_the_end
                content_is_read_from_several_threads_at_once
                text_and_bytes_round_trip_untouched
                an_empty_file_is_a_file
                a_large_file_is_streamed_in_and_out
            }
            pages {
                a_page_has_the_wanted_lines
                a_page_has_the_usual_lines_when_nothing_is_said
                a_page_of_everything_knows_no_limit
                a_page_of_no_lines_is_empty
                a_page_past_the_end_is_empty
                an_empty_file_has_no_lines
                a_last_line_without_a_newline_is_a_line
                a_page_keeps_line_endings_and_byte_order_marks
                a_page_is_cut_after_whole_lines
                a_line_larger_than_a_page_is_too_large
                whether_it_is_text_is_judged_on_the_page_alone
                the_total_of_lines_is_always_true
                a_page_far_inside_a_large_file_is_the_right_one
                pages_in_a_row_are_the_whole_file
                a_line_of_any_size_is_found_and_skipped
                only_utf_8_is_read_as_text
                a_page_gives_the_hash_of_the_whole_file_on_request
                only_a_file_has_pages
                a_range_has_the_wanted_bytes
                a_range_has_the_usual_bytes_when_nothing_is_said
                a_range_past_the_end_is_empty
                parts_in_a_row_are_the_whole_line
                a_part_begins_and_ends_between_characters
                a_part_past_the_end_is_empty
            }
            putting {
                put_makes_a_file_and_says_so
                put_replaces_a_file_and_says_so
                put_under_absent_refuses_whatever_is_there
                put_on_a_directory_is_is_a_directory
                put_on_a_link_is_permission_denied
                put_without_a_parent_is_not_found
                put_through_a_file_is_not_a_directory
                put_through_a_link_is_permission_denied
                put_replaces_a_file_that_is_unchanged
                put_on_a_changed_file_is_a_conflict_that_carries_the_current_hash
                put_on_a_file_that_is_gone_is_a_conflict_without_a_hash
                content_staged_elsewhere_can_be_put
                what_could_not_be_put_can_be_put_again
                put_leaves_everything_else
                equal_content_in_two_files_stays_two_files
            }
            staging {
                a_staged_writer_that_is_dropped_changes_nothing
                staged_content_that_is_never_put_changes_nothing
                staged_content_is_seen_only_once_it_is_put
                staged_content_knows_its_hash_and_size
                several_writers_can_stage_at_once
                content_carried_over_does_not_count_as_supplied
                a_writer_that_wrote_nothing_makes_an_empty_file
            }
            writing {
                a_write_says_what_it_did
                overwriting_replaces_the_whole_content
                creating_refuses_what_exists
                what_is_created_has_no_expected_hash
                a_write_makes_missing_parents
                a_write_without_parents_is_not_found
                a_write_to_a_directory_is_is_a_directory
                a_write_through_a_file_is_not_a_directory
                a_write_with_the_right_hash_replaces
                a_write_with_a_stale_hash_is_a_conflict_that_carries_the_current_hash
                a_write_to_a_file_that_is_gone_is_a_conflict
                a_failed_write_leaves_the_old_content
                a_write_keeps_the_mode_or_sets_it
            }
            appending {
                append_adds_at_the_end
                append_to_a_missing_file_creates_it
                append_counts_only_what_it_adds
                append_keeps_the_mode
                append_to_the_expected_content_adds
                append_to_other_content_is_a_conflict_that_carries_the_current_hash
                append_to_a_file_that_is_gone_is_a_conflict
            }
            modes {
                a_new_file_has_the_default_mode
                put_sets_the_mode_it_is_given
                an_executable_bit_is_kept_when_replacing
                a_private_file_stays_private_when_replacing
                set_mode_changes_the_mode_and_nothing_else
                only_a_file_has_a_mode_to_set
                set_mode_goes_through_no_file_and_no_link
                a_mode_moves_with_its_file
            }
            directories {
                create_dir_makes_an_empty_directory
                create_dir_refuses_whatever_is_there
                create_dir_needs_its_parent
                mkdir_makes_missing_parents
                mkdir_without_parents_is_not_found
                mkdir_accepts_a_directory_that_is_there
                mkdir_without_exist_ok_refuses_a_directory
                mkdir_refuses_a_file_and_a_link
                mkdir_goes_through_no_file_and_no_link
            }
            links {
                a_link_keeps_its_target_byte_for_byte
                a_symlink_exists_and_is_neither_file_nor_directory
                a_link_refuses_whatever_is_there
                a_link_needs_its_parent
                a_target_that_no_link_can_have_is_invalid_argument
                removing_a_link_leaves_its_target
                renaming_a_link_moves_the_link
                a_rename_replaces_a_link_and_not_its_target
                nothing_is_written_through_a_link
                links_in_a_circle_are_only_data
            }
            removing {
                removing_a_file_counts_it
                an_empty_directory_needs_no_recursion
                a_directory_with_entries_is_not_empty
                removing_recursively_counts_everything
                removing_leaves_everything_else
                removing_recursively_follows_no_link
                the_root_cannot_be_removed
                what_is_not_there_cannot_be_removed
                a_removed_name_can_be_used_again
            }
            renaming {
                rename_moves_a_file
                rename_moves_a_directory_with_all_that_is_below_it
                rename_refuses_what_exists
                renaming_an_entry_to_itself_is_already_exists
                replacing_an_entry_by_itself_changes_nothing
                rename_of_what_is_not_there_is_not_found
                rename_needs_the_new_parent
                rename_from_behind_a_link_is_permission_denied
                a_directory_cannot_go_into_itself
                a_longer_name_is_not_inside
                the_root_cannot_be_renamed_or_replaced
                a_file_or_link_replaces_a_file_or_link
                a_directory_replaces_an_empty_directory
                a_directory_with_entries_is_not_replaced
                a_directory_and_something_else_do_not_replace_each_other
                an_entry_cannot_replace_the_directory_it_is_in
                a_move_makes_missing_parents
                a_move_without_parents_is_not_found
                a_move_of_nothing_makes_no_parents
            }
            copying {
                a_copy_of_a_file_is_a_file_of_its_own
                a_copy_keeps_the_mode
                a_copy_of_a_link_is_a_link
                a_copy_of_a_directory_has_all_that_is_below_it
                copy_refuses_what_exists
                a_copy_replaces_a_file_by_a_file
                a_copy_replaces_nothing_but_files_by_files
                a_directory_cannot_be_copied_into_itself
                nothing_is_copied_to_the_root
                a_copy_of_what_is_not_there_is_not_found
                a_copy_makes_missing_parents
                a_copy_without_parents_is_not_found
                a_copy_goes_through_no_file_and_no_link
            }
            naming {
                a_name_that_is_not_utf8_round_trips
                a_name_with_control_characters_round_trips
                a_name_that_looks_special_is_a_name
                a_name_of_255_bytes_round_trips
                names_that_look_alike_are_different
                a_path_of_4096_bytes_can_be_used
                the_reserved_name_is_a_name_below_the_root
            }
            replacing {
                an_empty_backend_becomes_any_tree
                what_is_there_gives_way_to_the_other_tree
                a_replacement_by_the_same_tree_changes_nothing
                an_empty_tree_takes_everything_away
                a_replacement_can_be_taken_back
                a_private_directory_in_the_target_becomes_private
                a_directory_changes_its_mode_and_keeps_its_files
                a_target_that_cannot_be_read_changes_nothing
                a_special_file_in_the_target_changes_nothing
                a_plan_is_refused_when_it_is_checked_as_when_it_is_done
                a_special_file_in_the_target_is_refused_when_it_is_checked
            }
            capturing {
                a_capture_is_the_same_tree
                a_capture_counts_what_is_in_it
                later_changes_do_not_show_in_a_capture
                content_of_a_capture_is_of_its_moment_or_a_conflict
                what_is_excluded_is_not_captured
                what_is_excluded_is_not_touched
                only_the_paths_in_scope_are_replaced
                a_path_in_scope_goes_through_no_file_and_no_link
                a_capture_that_was_learnt_from_is_still_the_truth
            }
            living {
                the_live_view_shows_every_change
                the_live_view_refuses_as_the_backend_does
                a_reader_sees_the_old_or_the_new_content
            }
        }
    };
}

__conformance_cases! { (table) () }

/// One sentence of the contract, as a function that checks a backend.
///
/// ```
/// use wink_fs::{MemoryBackend, testkit::conformance};
///
/// let case = &conformance::CASES[0];
/// assert_eq!(case.name, "the_root_is_always_there_and_is_a_directory");
/// case.run(&mut MemoryBackend::new());
/// ```
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Case {
    /// The sentence.
    pub name: &'static str,
    run: fn(&mut dyn Backend),
}

impl Case {
    /// Checks a fresh, empty backend; panics if it breaks the contract.
    pub fn run(&self, backend: &mut dyn Backend) {
        (self.run)(backend);
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Case({})", self.name)
    }
}

/// Runs one case.
#[doc(hidden)]
pub fn check(name: &str, backend: &mut dyn Backend) {
    let case = CASES.iter().find(|case| case.name == name).expect("the list names every case");
    case.run(backend);
}
