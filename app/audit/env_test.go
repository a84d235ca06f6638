package audit_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres/ledgerdb"
	"causeway/app/audit"
	"causeway/app/internal/apptest"
	"causeway/app/internal/audittest"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/core/treasury"
	"causeway/ledger"
	"causeway/ports"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// env is the environment of a test with the ledger of its platform.
type env struct {
	*apptest.Env
	t        testing.TB
	ledgerDB *ledgerdb.Store
	platform ident.Platform
}

func newEnv(t testing.TB) *env {
	t.Helper()
	e := apptest.New(t, apptest.At(noon), apptest.Connections(12))
	return &env{Env: e, t: t, ledgerDB: ledgerdb.New(), platform: e.Platform.ID}
}

func (e *env) post(now time.Time, postings ...ledger.Posting) error {
	ctx := context.Background()
	return pgx.BeginFunc(ctx, e.Store.Pool(), func(tx pgx.Tx) error { return e.ledgerDB.Post(ctx, tx, now, postings) })
}

func (e *env) mustPost(postings ...ledger.Posting) {
	e.t.Helper()
	if err := e.post(noon, postings...); err != nil {
		e.t.Fatal(err)
	}
}

// transactionChecker compares postings with transactions, as Store.CheckTransactions does.
type transactionChecker func(context.Context, ident.Platform, []ports.PostedTransaction) (mismatches []error, err error)

// sources are what the rules read: the stored ledger alone, unless a test adds what its postings belong to.
type sources struct {
	base
	transactions transactionChecker
	audit.TreasuryAudit
	audit.ReceivableAudit
	audit.PaymentAudit
	audit.AgentAudit
	ports.EvidenceAudit
	since audit.Since
}

// base has the methods that sources does not replace.
type base struct{ audit.Store }

func (s sources) CheckTransactions(ctx context.Context, p ident.Platform, transactions []ports.PostedTransaction) ([]error, error) {
	if s.transactions == nil {
		return make([]error, len(transactions)), nil
	}
	return s.transactions(ctx, p, transactions)
}

// nothing is what no posting belongs to.
type nothing struct{}

func (nothing) AuditedReports(context.Context, ident.Platform, int, int) ([]ports.KeptReport, error) {
	return nil, nil
}

func (nothing) AuditedMovements(context.Context, ident.Platform) ([]treasury.Movement, error) {
	return nil, nil
}

func (nothing) AuditedReceivables(context.Context, ident.Platform, func(ports.ReceivableDetails) error) error {
	return nil
}

func (nothing) StatusMismatches(context.Context, ident.Platform, func(ports.StatusMismatch) error) (int64, error) {
	return 0, nil
}

func (nothing) ChangedReplies(context.Context, ident.Platform, func(ports.ChangedReply) error) (compared, withoutKey int64, err error) {
	return 0, 0, nil
}

func (nothing) EachTransactionWithoutPostings(context.Context, ident.Platform,
	func(ports.TransactionKey, transaction.Flow, transaction.State) error) error {
	return nil
}

func (nothing) MissingReplies(context.Context, ident.Platform, time.Time, func(ports.MissingReply) error) error {
	return nil
}

func (nothing) EachLimitUsage(context.Context, ident.Platform, func(ports.UsageLine) error) error {
	return nil
}

func (nothing) EachAgentUsage(context.Context, ident.Platform, func(ports.UsageLine) error) error {
	return nil
}

func (nothing) EachAgentPayment(context.Context, ident.Platform, func(ports.AgentPaymentLine) error) error {
	return nil
}

func (nothing) EvidenceSnapshot(context.Context, func(context.Context, ports.EvidenceView) error) error {
	return nil
}

func (e *env) newService(check transactionChecker, edits ...func(*sources)) *audit.Checker {
	s := sources{base{e.Store}, check, nothing{}, nothing{}, nothing{}, nothing{}, nothing{}, audit.Since{}}
	for _, edit := range edits {
		edit(&s)
	}
	return audit.NewChecker(s, audittest.Signatures, s.since)
}

func (e *env) withEvidence(s *sources) { s.EvidenceAudit = e.Store }

func (e *env) newAudit() ports.LedgerAudit { return ledgerdb.NewAudit(e.ledgerDB, e.Store.Pool()) }

func (e *env) newLog() *ledgerdb.Log { return ledgerdb.NewLog(e.ledgerDB, e.Store.Pool()) }

func (e *env) check(checkStates transactionChecker) audit.Report {
	e.t.Helper()
	report, err := e.newService(checkStates).Check(context.Background())
	if err != nil {
		e.t.Fatal(err)
	}
	return report
}

func (e *env) updateSnapshots() {
	e.t.Helper()
	for {
		more, err := e.ledgerDB.AdvanceBalanceSnapshots(context.Background(), e.Store.Pool())
		if err != nil {
			e.t.Fatal(err)
		}
		if !more {
			return
		}
	}
}

// execAsSuperuser runs statements as a superuser, for whom no trigger fires.
func (e *env) execAsSuperuser(statement string) {
	e.t.Helper()
	pgtest.ExecAsSuperuser(e.t, e.URL, statement)
}

func (e *env) header() ledger.Header {
	return ledger.Header{ID: newID(), Platform: e.platform, Effective: noon}
}

func (e *env) deposit(to ident.InternalAccount, minor int64) ledger.Posting {
	return ledger.Deposit(e.header(), ledger.IncomingFunds{Partner: ledger.Rail("ACH"), To: ledger.CustomerAccount(to), Amount: usd(minor)})
}

func (e *env) transferOut(from ident.InternalAccount, minor int64) ledger.Posting {
	return ledger.TransferOut(e.header(), ledger.OutgoingFunds{From: ledger.CustomerAccount(from), Amount: usd(minor)})
}

// ramp are the postings of a delivered payment from dollars to bitcoin.
func (e *env) ramp(transaction ident.Transaction) []ledger.Posting {
	header := func() ledger.Header {
		header := e.header()
		header.Transaction = transaction
		return header
	}
	return []ledger.Posting{
		ledger.JITReceived(header(), ledger.Rail("RTP"), usd(10050)),
		ledger.Converted(header(), ledger.Conversion{
			From: ledger.FundingJIT, To: ledger.TransitPayouts, Sent: usd(10050), Fees: 50,
			Received: money.Amount{Minor: 100_000, Currency: money.BTC}}),
		ledger.Delivered(header(), ledger.Chain("LAYER2"), money.Amount{Minor: 100_000, Currency: money.BTC}),
	}
}

// checkDelivered is a state check that expects every transaction to be a delivered ramp.
func checkDelivered(_ context.Context, _ ident.Platform, transactions []ports.PostedTransaction) ([]error, error) {
	problems := make([]error, len(transactions))
	for i, t := range transactions {
		var kinds []ledger.Kind
		for _, p := range t.Postings {
			kinds = append(kinds, p.Kind)
		}
		if !slices.Equal(kinds, []ledger.Kind{ledger.KindJITReceived, ledger.KindConverted, ledger.KindDelivered}) {
			problems[i] = errors.New("a delivered ramp is received, converted and delivered")
		}
	}
	return problems, nil
}

func newID() uuid.UUID {
	n := lastID.Add(1)
	return uuid.UUID{0x01, 0x93, 6: 0x70, 8: 0x80, 12: byte(n >> 24), 13: byte(n >> 16), 14: byte(n >> 8), 15: byte(n)}
}

var lastID atomic.Uint32

func newInternalAccountID() (a ident.InternalAccount) {
	a.SetUUID(newID())
	return a
}

func newTransactionID() (t ident.Transaction) {
	t.SetUUID(newID())
	return t
}

func usd(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: money.USD} }
