//! Terminal operations that treat every piece alike: the part they have in common.
//!
//! `for_each`, `sum`, `reduce`, `find_any` and their relatives do not care where a piece begins; all pieces share the
//! same closures and flags by reference. Such an operation is a [`Recipe`]: a copyable value that begins a folder and
//! combines two results. [`Everywhere`] makes a consumer of it.

use super::plumbing::{Consumer, Folder, Reducer, UnindexedConsumer};

/// What to do with the items of any piece, and how to combine two pieces.
pub(super) trait Recipe<Item>: Copy + Send {
    /// What a piece amounts to.
    type Result: Send;

    /// Eats the items of one piece.
    type Folder: Folder<Item, Result = Self::Result>;

    /// Begins one piece.
    fn begin(self) -> Self::Folder;

    /// Combines two neighbouring pieces, left before right.
    fn combine(self, left: Self::Result, right: Self::Result) -> Self::Result;

    /// Whether [`full`](Self::full) can become true.
    const CAN_BE_FULL: bool = false;

    /// True when no further item can change the result.
    #[inline]
    fn full(self) -> bool {
        false
    }
}

/// The consumer that follows one recipe everywhere.
#[derive(Clone, Copy)]
pub(super) struct Everywhere<R>(pub(super) R);

/// The reducer of [`Everywhere`]. It needs to know the item to find the recipe's types.
pub(super) struct Combine<R, Item> {
    recipe: R,
    item: std::marker::PhantomData<fn(Item)>,
}

impl<R, Item> Combine<R, Item> {
    #[inline]
    fn new(recipe: R) -> Self {
        Combine {
            recipe,
            item: std::marker::PhantomData,
        }
    }
}

impl<Item, R> Consumer<Item> for Everywhere<R>
where
    R: Recipe<Item>,
{
    type Folder = R::Folder;
    type Reducer = Combine<R, Item>;
    type Result = R::Result;

    #[inline]
    fn split_at(self, _index: usize) -> (Self, Self, Self::Reducer) {
        (self, self, Combine::new(self.0))
    }

    #[inline]
    fn into_folder(self) -> R::Folder {
        self.0.begin()
    }

    #[inline]
    fn full(&self) -> bool {
        self.0.full()
    }

    #[inline]
    fn is_never_full(&self) -> bool {
        !R::CAN_BE_FULL
    }

    const MAY_SEARCH: bool = R::CAN_BE_FULL;

    #[inline]
    fn can_resume(&self, _folder: &R::Folder) -> bool {
        true
    }
}

impl<Item, R> UnindexedConsumer<Item> for Everywhere<R>
where
    R: Recipe<Item>,
{
    #[inline]
    fn split_off_left(&self) -> Self {
        *self
    }

    #[inline]
    fn to_reducer(&self) -> Self::Reducer {
        Combine::new(self.0)
    }
}

impl<Item, R> Reducer<R::Result> for Combine<R, Item>
where
    R: Recipe<Item>,
{
    #[inline]
    fn reduce(self, left: R::Result, right: R::Result) -> R::Result {
        self.recipe.combine(left, right)
    }
}
