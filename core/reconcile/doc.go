// Package reconcile compares a partner's statement with the ledger account of what the partner
// holds for us. Every statement line and every expected ledger entry ends in one match, which
// names the rule that found it, or in one break, which names its reason.
//
// The package decides on values alone. It does no I/O and never changes a posting: a break that
// needs a correction is resolved by a further posting.
package reconcile
