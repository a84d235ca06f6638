// Package audit proves that the ledger is what was posted. A Checker checks every
// invariant of the ledger and verifies it against its log; VerifyExport verifies an export
// of the log against checkpoints, without a database. A Log seals each platform's new
// postings in a Merkle tree, signs checkpoints of it, publishes them, and proves that a
// posting is in the log.
//
// The package never posts and never corrects. Posting never waits for sealing.
package audit

import (
	"context"
	"slices"
	"time"

	"causeway/core/ident"
	"causeway/ledger"
	"causeway/ports"
)

// Store is what the rules read.
type Store interface {
	LedgerAudit() ports.LedgerAudit
	// CheckTransactions compares the postings of each transaction, in order, with the transaction as it is now. At the
	// index of each transaction it returns nil, or how they differ. The error means that it could not compare them.
	CheckTransactions(ctx context.Context, platform ident.Platform, transactions []ports.PostedTransaction) (mismatches []error, err error)
	ports.MonthEndAudit
	TreasuryAudit
	PriceAudit
	RecurringAudit
	ReceivableAudit
	PaymentAudit
	WalletPayments
	AgentAudit
	ports.EvidenceAudit
}

// Since are the times before which records may have been deleted at the end of their retention.
type Since struct {
	Counters string // a day, "2026-03-14"
	Replies  time.Time
}

// Checker checks the ledger of all platforms, or of one.
type Checker struct {
	only   ident.Platform // zero: all platforms
	store  Store
	proofs ports.WalletProofsByEnvironment
	since  Since
	passes []*pass
}

// NewChecker returns a Checker of every rule. proofs verify what the owners of wallets have signed.
func NewChecker(store Store, proofs ports.WalletProofsByEnvironment, since Since) *Checker {
	return &Checker{store: store, proofs: proofs, since: since, passes: passes()}
}

// Of returns a Checker of one platform alone: it neither counts nor reports anything of others.
func (c *Checker) Of(p ident.Platform) *Checker {
	of := *c
	of.only = p
	return &of
}

// ofOthers reports whether what belongs to a platform is not checked.
func (c *Checker) ofOthers(p ident.Platform) bool { return !c.only.IsZero() && p != c.only }

// Check checks every rule on the ledger, in one snapshot. It streams: the
// memory it needs does not grow with the ledger. Violations are in the report; an error means
// that the check could not be completed.
func (c *Checker) Check(ctx context.Context) (Report, error) {
	return c.check(ctx, newReport(check), nil)
}

// VerifyOptions is what the log is verified against, beside what is stored.
type VerifyOptions struct {
	// Published are checkpoints that were kept outside of the database. Anyone who can change
	// the postings can also change the stored checkpoints, but not these.
	Published []PublishedCheckpoint
	// Keys verify the signatures of checkpoints. If empty, Verify uses the stored keys and
	// VerifyExport does not verify signatures.
	Keys [][32]byte
	// OfCopy is set for a copy of the database, which need not have what was committed last: checkpoints that were published
	// since are no violation, and Report.Unreached counts what they cover. Those before must match all the same.
	OfCopy bool
	// SealedBefore is the time before which every posting must be sealed; if zero, that is not checked.
	SealedBefore time.Time
}

// Verify checks what Check checks, and that every posting is what was sealed in the log: it
// computes the log anew from the postings and their entries, and compares it with the stored
// hashes and with every checkpoint.
func (c *Checker) Verify(ctx context.Context, v VerifyOptions) (Report, error) {
	v.Published = slices.DeleteFunc(slices.Clone(v.Published), func(p PublishedCheckpoint) bool { return c.ofOthers(p.Platform) })
	var except []Rule
	for log, rule := range map[ledger.Log]Rule{ledger.PostingLog: RulePublishedCheckpoints, ledger.EvidenceLog: RulePublishedEvidence} {
		if !slices.ContainsFunc(v.Published, func(p PublishedCheckpoint) bool { return p.Log == log }) {
			except = append(except, rule)
		}
	}
	if v.SealedBefore.IsZero() {
		except = append(except, RuleSealedInTime, RuleEvidenceInTime)
	}
	return c.check(ctx, newReport(check|verify, except...), &v)
}

// run is one run of the rules.
type run struct {
	*Checker
	report  *Report
	verify  *VerifyOptions // nil unless the log is verified too
	inDoubt []doubtfulTransaction
}

// platformRun is the part of a run that reads one platform in the snapshot of the ledger.
type platformRun struct {
	*run
	view     ports.AuditView
	platform ports.AuditPlatform
	totals   totals // of the entries and accounts so far
}

// check runs the passes: in the snapshot of the ledger for each platform and then for what belongs to none, and
// afterwards those that take a snapshot of their own.
func (c *Checker) check(ctx context.Context, report *Report, v *VerifyOptions) (Report, error) {
	r := &run{Checker: c, report: report, verify: v}
	err := c.store.LedgerAudit().Snapshot(ctx, func(ctx context.Context, view ports.AuditView) error {
		platforms, err := view.Platforms(ctx)
		if err != nil {
			return err
		}
		platforms = slices.DeleteFunc(platforms, func(p ports.AuditPlatform) bool { return c.ofOthers(p.Platform) })
		if v != nil {
			r.verify, platforms, err = v.withStoredKeys(ctx, view, platforms)
			if err != nil {
				return err
			}
		}
		for _, p := range platforms {
			of := &platformRun{run: r, view: view, platform: p, totals: totals{}}
			for _, pass := range c.passes {
				if pass.platform == nil {
					continue
				}
				if err := pass.platform(of, ctx); err != nil {
					return err
				}
			}
		}
		return checkProposals(ctx, view, report, ident.Platform{}) // changes of all platforms
	})
	if err != nil {
		return Report{}, err
	}
	for _, pass := range c.passes {
		if pass.after == nil {
			continue
		}
		if err := pass.after(r, ctx); err != nil {
			return Report{}, err
		}
	}
	return *report, r.checkUnposted(ctx)
}

// withStoredKeys returns the options with the stored keys if they have none, and the platforms
// with those that only have published checkpoints left.
func (v VerifyOptions) withStoredKeys(ctx context.Context, view ports.AuditView,
	platforms []ports.AuditPlatform) (*VerifyOptions, []ports.AuditPlatform, error) {
	if len(v.Keys) == 0 {
		var err error
		if v.Keys, err = storedKeys(ctx, view.LogKeys); err != nil {
			return nil, nil, err
		}
	}
	for _, published := range v.Published {
		if published.Log == ledger.PostingLog &&
			!slices.ContainsFunc(platforms, func(p ports.AuditPlatform) bool { return p.Platform == published.Platform }) {
			platforms = append(platforms, ports.AuditPlatform{Platform: published.Platform})
		}
	}
	return &v, platforms, nil
}

// storedKeys returns the stored public keys.
func storedKeys(ctx context.Context, read func(context.Context) ([]ports.CheckpointKey, error)) ([][32]byte, error) {
	stored, err := read(ctx)
	keys := make([][32]byte, len(stored))
	for i, k := range stored {
		keys[i] = k.Public
	}
	return keys, err
}
