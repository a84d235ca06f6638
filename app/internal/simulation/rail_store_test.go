package simulation_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/app/internal/foureyes"
	"causeway/core/account"
	"causeway/core/books"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/core/rail"
	"causeway/core/receivable"
	"causeway/core/transaction"
	"causeway/ports"
)

// railTables are the data of connections, and of money that was taken back.
type railTables struct {
	railPayments  map[ports.RailPaymentKey]rail.Payment
	railAccounts  map[rail.AccountKey]rail.Account
	railDecisions map[uuid.UUID][]ports.RailDecision
	pauses        map[string]ports.RailPause
	connections   []ports.RailConnectionVersion
	receivables   map[ident.Transaction]ports.ReceivableDetails
	reversals     map[ident.Receipt]transaction.ReceiptReversal
	sentAgain     map[ident.Receipt]ident.Transaction
}

func newRailTables() railTables {
	return railTables{railPayments: map[ports.RailPaymentKey]rail.Payment{}, railAccounts: map[rail.AccountKey]rail.Account{},
		railDecisions: map[uuid.UUID][]ports.RailDecision{},
		pauses:        map[string]ports.RailPause{}, receivables: map[ident.Transaction]ports.ReceivableDetails{},
		reversals: map[ident.Receipt]transaction.ReceiptReversal{}, sentAgain: map[ident.Receipt]ident.Transaction{}}
}

func railKey(p rail.Payment) ports.RailPaymentKey {
	return ports.RailPaymentKey{Platform: p.Platform, ID: p.ID, Kind: p.Kind}
}

// sortedRailPayments returns the payments that match, in an order that depends on the seed only.
func (m *memory) sortedRailPayments(match func(rail.Payment) bool) []rail.Payment {
	found := slices.DeleteFunc(slices.Collect(maps.Values(m.railPayments)), func(p rail.Payment) bool { return !match(p) })
	slices.SortFunc(found, func(a, b rail.Payment) int {
		return cmp.Or(bytes.Compare(a.ID[:], b.ID[:]), strings.Compare(string(a.Kind), string(b.Kind)))
	})
	return found
}

func (m *memory) railPaymentsByKey(keys []ports.RailPaymentKey) map[ports.RailPaymentKey]rail.Payment {
	found := map[ports.RailPaymentKey]rail.Payment{}
	for _, key := range keys {
		if p, exists := m.railPayments[key]; exists {
			found[key] = p
		}
	}
	return found
}

// leave decides whether a payment leaves, as the unit of work of its adapter does.
func (m *memory) leave(connection string, key ports.RailPaymentKey, now time.Time) rail.Departure {
	p, exists := m.railPayments[key]
	if !exists {
		return rail.Withdrawn
	}
	after, departure := p.Depart(connection, m.pauses[connection].Paused || m.pauses[string(p.Rail)].Paused, now)
	m.railPayments[key] = after
	return departure
}

func (u *tx) LockRailAccounts(_ context.Context, keys []rail.AccountKey, _ time.Time) (map[rail.AccountKey]*rail.Account, error) {
	found := map[rail.AccountKey]*rail.Account{}
	for _, key := range keys {
		a := u.railAccounts[key]
		a.AccountKey = key
		found[key] = &a
	}
	return found, nil
}

func (u *tx) SaveRailAccounts(_ context.Context, accounts map[rail.AccountKey]*rail.Account, _ []rail.Payment, _ time.Time) error {
	for key, a := range accounts {
		a.Usage = nil
		put(u.memory, u.railAccounts, key, *a)
	}
	return nil
}

func (u *tx) LockRailPayments(_ context.Context, keys []ports.RailPaymentKey) (map[ports.RailPaymentKey]rail.Payment, error) {
	return u.railPaymentsByKey(keys), nil
}

func (u *tx) LockRailQueue(_ context.Context, key rail.AccountKey, except ports.RailQueueExcept, _ rail.Payment,
	_ int) ([]rail.Payment, error) {
	queue := u.sortedRailPayments(func(p rail.Payment) bool {
		return p.State == rail.Queued && p.Account() == key && !slices.Contains(except.Stopped, p.Rail) &&
			(p.Forced || !slices.Contains(except.Closed, p.Rail))
	})
	slices.SortStableFunc(queue, func(a, b rail.Payment) int {
		if a.Forced != b.Forced {
			return choose(a.Forced, -1, 1)
		}
		return a.RecordedAt.Compare(b.RecordedAt)
	})
	return queue, nil
}

func (u *tx) RailPausesNow(context.Context) ([]ports.RailPause, error) {
	return slices.Collect(maps.Values(u.pauses)), nil
}

func (u *tx) CreateRailPayments(_ context.Context, payments []rail.Payment) error {
	for _, p := range payments {
		u.writes(p.Platform)
		if _, exists := u.railPayments[railKey(p)]; exists {
			u.world.fail("the payment %s is recorded twice", p.ID)
		}
		put(u.memory, u.railPayments, railKey(p), p)
	}
	return nil
}

func (u *tx) UpdateRailPayments(_ context.Context, payments []rail.Payment) error {
	for _, p := range payments {
		u.writes(p.Platform)
		put(u.memory, u.railPayments, railKey(p), p)
	}
	return nil
}

func (u *tx) RecordRailDecision(_ context.Context, d ports.RailDecision) error {
	put(u.memory, u.railDecisions, d.Payment.ID, append(slices.Clone(u.railDecisions[d.Payment.ID]), d))
	return nil
}

// AddRailFeedItems fails the run: the bank of the simulation never contradicts itself.
func (u *tx) AddRailFeedItems(_ context.Context, items []ports.RailFeedItem) error {
	u.world.fail("kept aside %+v", items)
	return nil
}

func (u *tx) SaveReceiptReversal(_ context.Context, v transaction.ReceiptReversal) (bool, error) {
	_, known := u.reversals[v.Receipt.ID]
	if !known {
		put(u.memory, u.reversals, v.Receipt.ID, v)
	}
	return !known, nil
}

func (u *tx) IsReceiptReversed(_ context.Context, _ ident.Platform, id ident.Receipt) (bool, error) {
	_, known := u.reversals[id]
	return known, nil
}

func (u *tx) SaveRefundAgain(_ context.Context, of ports.TransactionKey, receipt ident.Receipt) error {
	put(u.memory, u.sentAgain, receipt, of.ID)
	return nil
}

func (u *tx) RefundSentAs(_ context.Context, _ ident.Platform, receipt ident.Receipt) (ident.Transaction, error) {
	return u.sentAgain[receipt], nil
}

func (u *tx) LockReceivableOf(_ context.Context, _ ident.Platform, id ident.Transaction) (ports.ReceivableDetails, bool, error) {
	found, exists := u.receivables[id]
	return found, exists, nil
}

func (u *tx) CreateReceivable(_ context.Context, r receivable.Receivable) error {
	return u.saveReceivable(r)
}

func (u *tx) UpdateReceivable(_ context.Context, r receivable.Receivable) error {
	return u.saveReceivable(r)
}

func (u *tx) saveReceivable(r receivable.Receivable) error {
	details := u.receivables[r.Transaction]
	details.Receivable = r
	put(u.memory, u.receivables, r.Transaction, details)
	return nil
}

func (u *tx) AddReceivableChange(_ context.Context, r receivable.Receivable, c receivable.Change) error {
	details := u.receivables[r.Transaction]
	details.Changes = append(slices.Clone(details.Changes), c)
	put(u.memory, u.receivables, r.Transaction, details)
	return nil
}

// InternalAccount is read by units of work, and so at once.
func (s store) InternalAccount(_ context.Context, _ ident.Platform, id ident.InternalAccount) (account.Internal, error) {
	return s.world.internal[id], nil
}

func (s store) ReceivableOf(ctx context.Context, _ ident.Platform, id ident.Transaction) (ports.ReceivableDetails, bool, error) {
	err := s.read(ctx, "receivable")
	found, exists := s.world.receivables[id]
	return found, exists, err
}

// RailPayments is read by units of work too, and so at once.
func (s store) RailPayments(_ context.Context, keys []ports.RailPaymentKey) (map[ports.RailPaymentKey]rail.Payment, error) {
	return s.world.railPaymentsByKey(keys), nil
}

func (s store) RailPaymentsByID(ctx context.Context, id uuid.UUID) ([]rail.Payment, error) {
	err := s.read(ctx, "rail payments")
	return s.world.sortedRailPayments(func(p rail.Payment) bool { return p.ID == id }), err
}

func (s store) RailReplies(context.Context, ident.Platform, uuid.UUID, int) ([]ports.RailReply, error) {
	return nil, nil // replies are not simulated
}

// OpenContradictions returns none: the bank of the simulation never contradicts itself.
func (s store) OpenContradictions(context.Context, ident.Platform) ([]ports.RailFeedItem, error) {
	return nil, nil
}

func (s store) RailDecisions(_ context.Context, _ ident.Platform, id uuid.UUID) ([]ports.RailDecision, error) {
	return s.world.railDecisions[id], nil
}

func (s store) RailQueues(context.Context) ([]rail.AccountKey, error) {
	var keys []rail.AccountKey
	for _, p := range s.world.sortedRailPayments(func(p rail.Payment) bool { return p.State == rail.Queued }) {
		if !slices.Contains(keys, p.Account()) {
			keys = append(keys, p.Account())
		}
	}
	return keys, nil
}

func (s store) RailReceiptConnections(_ context.Context, keys []ports.RailReceiptKey) (map[ports.RailReceiptKey]string, error) {
	found := map[ports.RailReceiptKey]string{}
	for _, key := range keys {
		for _, c := range s.world.connections {
			if slices.Contains(c.Rails, key.Rail) && c.Priority == 0 {
				found[key] = c.Name
			}
		}
	}
	return found, nil
}

func (s store) RailConnections(context.Context) ([]ports.RailConnectionVersion, error) {
	return s.world.connections, nil
}

func (s store) RailPauses(context.Context) ([]ports.RailPause, error) {
	return slices.Collect(maps.Values(s.world.pauses)), nil
}

func (s store) RailConnectionHistory(context.Context, string) ([]ports.RailConnectionVersion, error) {
	return nil, nil
}

func (s store) RailPauseHistory(context.Context, string) ([]ports.RailPause, error) { return nil, nil }

func (s store) RailTests(context.Context, string) ([]ports.RailTest, error) { return nil, nil }

// railConnections are the connections, which do not change.
type railConnections struct {
	store
	foureyes.ProposalReader
}

func (s store) SaveRailTest(context.Context, ports.RailTest, []ports.RailConnectionVersion, []ports.Job) error {
	return nil
}

func (s store) SaveRailPause(context.Context, ports.RailPause, ...platform.OperatorAction) error {
	return nil
}

func (s store) RailAccounts(context.Context, string, time.Time) ([]rail.Account, error) {
	return nil, nil
}

// Nothing needs four eyes in a simulation, so that nothing is proposed.

func (u *tx) LockBooksSettings(ctx context.Context, p ident.Platform) (books.SettingsVersion, error) {
	return u.LockBooksSettingsShared(ctx, p)
}

func (*tx) LockPeopleOf(context.Context, ident.Platform) (proposal.People, error) {
	return proposal.People{}, errNoProposals
}

func (*tx) CountPendingProposals(context.Context, ident.Platform, time.Time) (int, error) {
	return 0, errNoProposals
}

func (*tx) CreateProposal(context.Context, proposal.Proposal) error { return errNoProposals }

func (*tx) LockProposal(context.Context, ident.Platform, ident.Proposal) (proposal.Proposal, error) {
	return proposal.Proposal{}, errNoProposals
}

func (*tx) UpdateProposal(context.Context, proposal.Proposal) error { return errNoProposals }

var errNoProposals = errors.New("a simulation has no proposals")
