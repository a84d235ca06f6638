// Package reconcile compares a partner's statement with our books of the account that
// the partner keeps for us: every line and every entry ends in one match, which names
// the rule that made it, or in one break, which names its reason.
//
// It decides on values alone. It never reads files, never writes anything, and never
// changes a posting: a break that needs one is resolved by a further posting.
package reconcile
