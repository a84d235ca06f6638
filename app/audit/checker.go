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

// Checker checks the ledger of all platforms, or of one.
type Checker struct {
	only               ident.Platform // zero: all platforms
	reader             ports.LedgerReader
	audit              ports.LedgerAudit
	transactionChecker TransactionChecker
	// walletPayments and walletProofs are those of WithWalletPayments.
	walletPayments ports.WalletPayments
	walletProofs   ports.WalletProofsByEnvironment
	// monthEnd is that of WithMonthEnd.
	monthEnd ports.MonthEndAudit
	// agents and agentCountersSince are those of WithAgents.
	agents             ports.AgentAudit
	agentCountersSince string
	// treasury is that of WithTreasury.
	treasury ports.TreasuryAudit
	// evidence is that of WithEvidence.
	evidence ports.EvidenceAudit
	// payments and repliesSince are those of WithPayments.
	payments     ports.PaymentAudit
	repliesSince time.Time
	// receivables is that of WithReceivables.
	receivables ports.ReceivableAudit
	// prices is that of WithPrices.
	prices ports.PriceAudit
}

// NewChecker returns a Checker. Without a state checker it leaves out RuleTransactions, and
// RuleWalletPayments unless WithWalletPayments adds it, and RuleAgentUsage and RuleAgentActions unless WithAgents
// adds them, and RuleStatuses and RuleReplies unless WithPayments adds them, and RuleExchangeResults and RuleDeferredFees
// unless WithMonthEnd adds them, and RulePrices unless WithPrices adds it, and those of evidence unless WithEvidence adds
// them.
func NewChecker(reader ports.LedgerReader, audit ports.LedgerAudit, transactionChecker TransactionChecker) *Checker {
	return &Checker{reader: reader, audit: audit, transactionChecker: transactionChecker}
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
	return c.check(ctx, newReport(check, c.uncheckedRules()...), nil)
}

// VerifyOptions is what the log is verified against, beside what is stored.
type VerifyOptions struct {
	// Published are checkpoints that were kept outside of the database. Anyone who can change
	// the postings can also change the stored checkpoints, but not these.
	Published []PublishedCheckpoint
	// Keys verify the signatures of checkpoints. If empty, Verify uses the stored keys and
	// VerifyExport does not verify signatures.
	Keys [][32]byte
	// SealedBefore is the time before which every posting must be sealed; if zero, that is not checked.
	SealedBefore time.Time
}

// Verify checks what Check checks, and that every posting is what was sealed in the log: it
// computes the log anew from the postings and their entries, and compares it with the stored
// hashes and with every checkpoint.
func (c *Checker) Verify(ctx context.Context, v VerifyOptions) (Report, error) {
	v.Published = slices.DeleteFunc(slices.Clone(v.Published), func(p PublishedCheckpoint) bool { return c.ofOthers(p.Platform) })
	except := c.uncheckedRules()
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

func (c *Checker) uncheckedRules() []Rule {
	var rules []Rule
	if c.transactionChecker == nil {
		rules = append(rules, RuleTransactions)
	}
	if c.walletPayments == nil {
		rules = append(rules, RuleWalletPayments)
	}
	if c.monthEnd == nil {
		rules = append(rules, RuleExchangeResults, RuleDeferredFees)
	}
	if c.agents == nil {
		rules = append(rules, RuleAgentUsage, RuleAgentActions)
	}
	if c.prices == nil {
		rules = append(rules, RulePrices)
	}
	if c.payments == nil {
		rules = append(rules, RuleStatuses, RuleReplies)
	}
	if c.receivables == nil {
		rules = append(rules, RuleReceivables)
	}
	if c.treasury == nil {
		rules = append(rules, RuleSafeguarding, RuleTreasury)
	}
	if c.evidence == nil {
		rules = append(rules, RuleEvidence, RulePayees, RuleAccounts, RuleErasedTexts, RuleEvidenceInTime, RuleEvidenceCheckpoints, RulePublishedEvidence)
	}
	return rules
}

func (c *Checker) check(ctx context.Context, report *Report, v *VerifyOptions) (Report, error) {
	var inDoubt []doubtfulTransaction
	err := c.audit.Snapshot(ctx, func(ctx context.Context, view ports.AuditView) error {
		platforms, err := view.Platforms(ctx)
		if err != nil {
			return err
		}
		platforms = slices.DeleteFunc(platforms, func(p ports.AuditPlatform) bool { return c.ofOthers(p.Platform) })
		if v != nil {
			v, platforms, err = v.withStoredKeys(ctx, view, platforms)
			if err != nil {
				return err
			}
		}
		for _, p := range platforms {
			found, err := c.checkPlatform(ctx, view, report, p, v)
			if err != nil {
				return err
			}
			inDoubt = append(inDoubt, found...)
		}
		return checkProposals(ctx, view, report, ident.Platform{})
	})
	if err != nil {
		return Report{}, err
	}
	if err := c.recheckTransactions(ctx, report, inDoubt); err != nil {
		return Report{}, err
	}
	if err := c.checkWalletPayments(ctx, report); err != nil {
		return Report{}, err
	}
	if err := c.checkMonthEnd(ctx, report); err != nil {
		return Report{}, err
	}
	if err := c.checkAgents(ctx, report); err != nil {
		return Report{}, err
	}
	if err := c.checkPrices(ctx, report); err != nil {
		return Report{}, err
	}
	if err := c.checkPayments(ctx, report); err != nil {
		return Report{}, err
	}
	if err := c.checkEvidence(ctx, report, v); err != nil {
		return Report{}, err
	}
	return *report, nil
}

// withStoredKeys returns the options with the stored keys if they have none, and the platforms
// with those that only have published checkpoints left.
func (v VerifyOptions) withStoredKeys(ctx context.Context, view ports.AuditView, platforms []ports.AuditPlatform) (*VerifyOptions, []ports.AuditPlatform, error) {
	if len(v.Keys) == 0 {
		var err error
		if v.Keys, err = storedKeys(ctx, view.LogKeys); err != nil {
			return nil, nil, err
		}
	}
	for _, published := range v.Published {
		if published.Log == ledger.PostingLog && !slices.ContainsFunc(platforms, func(p ports.AuditPlatform) bool { return p.Platform == published.Platform }) {
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

func (c *Checker) checkPlatform(ctx context.Context, view ports.AuditView, report *Report, p ports.AuditPlatform, v *VerifyOptions) ([]doubtfulTransaction, error) {
	totals := totals{}
	postings := &postingCheck{report: report, platform: p, totals: totals, explainer: newExplainer(func(limit int) ([]ledger.Account, error) {
		return view.OldestAccounts(ctx, p.Platform, limit)
	})}
	if v != nil {
		var err error
		postings.log = newLogCheck(report, p.Platform, v.Keys)
		postings.log.sealedBefore = v.SealedBefore
		if postings.log.log, err = openStoredLog(ctx, view, p.Platform); err != nil {
			return nil, err
		}
		postings.log.addStoredCheckpoints(RuleSignedCheckpoints, view.LogCheckpoints)
		if err := postings.log.addClosingCheckpoints(ctx, view); err != nil {
			return nil, err
		}
		if published := platformCheckpoints(v.Published, ledger.PostingLog, p.Platform); len(published) > 0 {
			postings.log.addCheckpointList(RulePublishedCheckpoints, published)
		}
	}
	treasury, err := c.newTreasuryCheck(ctx, report, p.Platform)
	if err != nil {
		return nil, err
	}
	receivables, err := c.newReceivableCheck(ctx, report, p.Platform)
	if err != nil {
		return nil, err
	}
	if err := view.Postings(ctx, p.Platform, func(a ports.AuditPosting) error {
		receivables.posting(a)
		if err := treasury.posting(ctx, a); err != nil {
			return err
		}
		return postings.check(ctx, a)
	}); err != nil {
		return nil, err
	}
	if err := treasury.finish(ctx); err != nil {
		return nil, err
	}
	receivables.finish()
	if err := postings.finish(ctx); err != nil {
		return nil, err
	}

	accounts := &accountCheck{report: report, platform: p, totals: totals}
	if err := view.Accounts(ctx, p.Platform, accounts); err != nil {
		return nil, err
	}
	accounts.finishAccount()
	if err := view.OrphanBalances(ctx, p.Platform, accounts.orphanBalance); err != nil {
		return nil, err
	}
	accounts.checkSnapshotProgress()
	totals.check(report, p.Platform)

	if err := checkIndexes(ctx, view, report, p.Platform); err != nil {
		return nil, err
	}
	reversals := &reversalCheck{report: report, platform: p.Platform}
	if err := view.Reversals(ctx, p.Platform, reversals.check); err != nil {
		return nil, err
	}
	if err := checkClosedMonths(ctx, view, report, p.Platform); err != nil {
		return nil, err
	}
	if err := checkAdjustments(ctx, view, report, p.Platform); err != nil {
		return nil, err
	}
	if err := checkYearEnds(ctx, view, report, p.Platform); err != nil {
		return nil, err
	}
	if err := checkProposals(ctx, view, report, p.Platform); err != nil {
		return nil, err
	}
	return c.checkTransactions(ctx, view, report, p.Platform)
}
