package exports_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/app/exports"
	"causeway/app/exports/statement"
	"causeway/core/account"
	"causeway/core/books"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
	"causeway/ports/portstest"
)

// fakeLedger is a store and a ledger with one customer and one account.
type fakeLedger struct {
	turnover             ports.AccountTurnover
	movements            []ports.RecordedEntry
	payments             map[ident.Transaction]transaction.Transaction
	externalAccountReads int // calls of ExternalAccount
}

var testCustomer, testExternalAccount = func() (c ident.Customer, e ident.ExternalAccount) {
	c.SetUUID(uuid.UUID{1, 15: 1})
	e.SetUUID(uuid.UUID{1, 15: 2})
	return c, e
}()

func (d *fakeLedger) View(ctx context.Context, _ ident.Platform, _ time.Time, fn func(context.Context, ports.LedgerView) error) error {
	return fn(ctx, d)
}
func (d *fakeLedger) LastPosting() ports.LedgerPosition {
	return ports.LedgerPosition{Seq: 9, Recorded: noon}
}
func (d *fakeLedger) Accounts(_ context.Context, _ ports.LedgerFilter, each func(ports.AccountTurnover) error) error {
	return each(d.turnover)
}
func (d *fakeLedger) Entries(ctx context.Context, _ ports.LedgerFilter, each func(ports.RecordedEntry) error) error {
	return d.EntriesByEffectiveTime(ctx, nil, period.Interval{}, func(_ ledger.Account, e ports.RecordedEntry) error { return each(e) })
}
func (d *fakeLedger) Days(context.Context, ledger.Account, time.Time, period.Interval, func(ports.DayTurnover) error) error {
	return nil
}
func (d *fakeLedger) AccountHolders(context.Context, ident.Platform, []ident.InternalAccount,
	bool) (map[ident.InternalAccount]ports.AccountHolder, error) {
	return nil, nil
}
func (d *fakeLedger) EntriesByEffectiveTime(_ context.Context, _ []ledger.Account, _ period.Interval,
	each func(ledger.Account, ports.RecordedEntry) error) error {
	for _, e := range d.movements {
		if err := each(ledger.Account{}, e); err != nil {
			return err
		}
	}
	return nil
}
func (d *fakeLedger) Platform(context.Context, ident.Platform) (platform.Platform, error) {
	return platform.Platform{Name: "Acme"}, nil
}
func (d *fakeLedger) Customer(context.Context, ident.Platform, ident.Customer) (customer.Customer, error) {
	return customer.Customer{FullName: "Ana"}, nil
}
func (d *fakeLedger) InternalAccount(context.Context, ident.Platform, ident.InternalAccount) (account.Internal, error) {
	return account.Internal{ID: internalAccountID(1), Platform: platformID(1), Customer: testCustomer, Currency: money.EUR,
		Type: account.InternalFiat}, nil
}
func (d *fakeLedger) InternalAccountsOf(context.Context, ident.Platform, []ident.Customer) (map[ident.Customer][]account.Internal, error) {
	return nil, nil
}
func (d *fakeLedger) ExternalAccount(context.Context, ident.Platform, ident.ExternalAccount) (account.External, error) {
	d.externalAccountReads++
	return account.External{Beneficiary: &account.Beneficiary{Type: account.Individual, FullName: "Bo Beneficiary"}}, nil
}
func (d *fakeLedger) GLMapping(context.Context, ident.Platform, time.Time) (books.MappingVersion, error) {
	return books.MappingVersion{Mapping: books.DefaultMapping()}, nil
}
func (d *fakeLedger) TransactionsByKey(_ context.Context,
	keys []ports.TransactionKey) (map[ports.TransactionKey]transaction.Transaction, error) {
	found := map[ports.TransactionKey]transaction.Transaction{}
	for _, key := range keys {
		if t, ok := d.payments[key.ID]; ok {
			found[key] = t
		}
	}
	return found, nil
}

func (d *fakeLedger) statement(t *testing.T, format exports.StatementFormat) (string, error) {
	t.Helper()
	service := exports.New(exports.Config{Views: d, Store: d, Clock: portstest.NewFakeClock(noon),
		Company: statement.Company{Name: "Acme Payments Ltd"}})
	document, err := service.Statement(t.Context(), platformID(1),
		exports.StatementRequest{Customer: testCustomer, Account: internalAccountID(1), Format: format})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = document.Write(t.Context(), &out)
	return out.String(), err
}

// newFakeLedger has n payments of 1.00 EUR each, with the given transactions in turn.
func newFakeLedger(n int, transactions ...transaction.Transaction) *fakeLedger {
	d := &fakeLedger{payments: map[ident.Transaction]transaction.Transaction{}}
	for i := range n {
		d.payments[transactionID(byte(i%250+1))] = transactions[i%len(transactions)]
		d.movements = append(d.movements, ports.RecordedEntry{Entry: ledger.Entry{Debit: ledger.CustomerAccount(internalAccountID(1)),
			Credit: ledger.TransitPayouts, Currency: money.EUR, Amount: 100},
			Kind: ledger.KindTransferOut, Transaction: transactionID(byte(i%250 + 1)), Effective: noon, Recorded: noon})
	}
	d.turnover = ports.AccountTurnover{Opening: -int64(n) * 100, Closing: 0, Debits: ports.Tally{Count: int64(n), Sum: int64(n) * 100}}
	return d
}

func TestStatement_NamesCounterparty(t *testing.T) {
	t.Parallel()
	// A movement names its counterparty: by what the platform or the bank said, by its address, or by the
	// beneficiary of the account. Each account is read once. What the beneficiary reads is the note.
	d := newFakeLedger(1600,
		transaction.Transaction{Type: transaction.Incoming, Originator: &transaction.Originator{Name: "Ed Originator"}, Remittance: "Invoice 7"},
		transaction.Transaction{Type: transaction.Outgoing, Counterparty: map[string]string{"FULL_NAME": "Cy Counterparty"},
			Destination: transaction.Endpoint{UMA: "$no@no"}},
		transaction.Transaction{Type: transaction.Outgoing, Destination: transaction.Endpoint{UMA: "$di@bank.example"}, Description: "Lunch"},
		transaction.Transaction{Type: transaction.Outgoing, Destination: transaction.Endpoint{ExternalAccount: testExternalAccount}})
	text, err := d.statement(t, exports.HTML)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Cy Counterparty", "$di@bank.example", "Bo Beneficiary", "<small>Lunch</small>", "Ed Originator",
		"<small>Invoice 7</small>"} {
		if n := strings.Count(text, name); n < 300 {
			t.Errorf("%s occurs %d times", name, n)
		}
	}
	if !strings.Contains(text, "Issued by Acme Payments Ltd") {
		t.Error("the statement does not name the company")
	}
	if d.externalAccountReads != 1 || strings.Contains(text, "$no@no") || strings.Count(text, "<tr") != 1600+3 {
		t.Errorf("read %d times, %d rows", d.externalAccountReads, strings.Count(text, "<tr"))
	}
}

func TestStatement_BalanceMismatch(t *testing.T) {
	t.Parallel()
	// If the movements do not add up to the closing balance there is an error, and neither the
	// end of the page nor any part of a PDF is written.
	for _, format := range []exports.StatementFormat{exports.HTML, exports.PDF} {
		d := newFakeLedger(3, transaction.Transaction{})
		d.turnover.Closing = 1
		text, err := d.statement(t, format)
		if err == nil || !strings.Contains(err.Error(), "the movements add up to 0, but the balance is -1") {
			t.Errorf("%s: %v", format, err)
		}
		if strings.Contains(text, "</html>") || strings.Contains(text, "Closing balance</td>") || format == exports.PDF && text != "" {
			t.Errorf("%s: written:\n%s", format, text)
		}
	}
}

func TestStatement_PDFTooLarge(t *testing.T) {
	t.Parallel()
	// A PDF with too many movements is rejected; the HTML page is written.
	d := newFakeLedger(1, transaction.Transaction{})
	d.turnover.Debits.Count = statement.MaxPDFMovements + 1
	text, err := d.statement(t, exports.PDF)
	if f, ok := fault.As(err); !ok || f.Code != fault.InvalidInput || f.Fields[0].Field != "format" || text != "" {
		t.Errorf("%v", err)
	}
	if _, err := d.statement(t, exports.HTML); err != nil {
		t.Error(err)
	}
}

func TestExport_BoundedMemory(t *testing.T) {
	// Streamed formats use constant memory: no more after the whole export than after the first
	// megabyte. The test measures the heap of the whole program, so it is not parallel.
	for _, format := range []exports.Format{exports.CSV, exports.HLedger, exports.Ledger, exports.Beancount} {
		service := exports.New(exports.Config{Views: largeLedger(40_000), Store: &fakeLedger{}, Clock: portstest.NewFakeClock(noon)})
		document, err := service.Export(platformID(1), exports.Request{Format: format})
		if err != nil {
			t.Fatal(err)
		}
		written, measured := 0, []uint64{}
		err = document.Write(t.Context(), writerFunc(func(p []byte) (int, error) {
			if before := written / 1e6; (written+len(p))/1e6 > before {
				var memory runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&memory)
				measured = append(measured, memory.HeapAlloc)
			}
			written += len(p)
			return len(p), nil
		}))
		if err != nil || len(measured) < 4 {
			t.Fatalf("%s: %d bytes, %v", format, written, err)
		}
		if first, most := measured[0], slices.Max(measured); most > first+1<<20 {
			t.Errorf("%s: heap of %d bytes after the first part, and up to %d later", format, first, most)
		}
	}
}

// largeLedger is a ledger of so many entries, generated as they are read.
type largeLedger int

func (f largeLedger) View(ctx context.Context, _ ident.Platform, _ time.Time, fn func(context.Context, ports.LedgerView) error) error {
	return fn(ctx, f)
}
func (f largeLedger) LastPosting() ports.LedgerPosition {
	return ports.LedgerPosition{Seq: int64(f), Recorded: noon}
}
func (f largeLedger) Accounts(context.Context, ports.LedgerFilter, func(ports.AccountTurnover) error) error {
	return nil
}
func (f largeLedger) Days(context.Context, ledger.Account, time.Time, period.Interval, func(ports.DayTurnover) error) error {
	return nil
}
func (f largeLedger) EntriesByEffectiveTime(context.Context, []ledger.Account, period.Interval,
	func(ledger.Account, ports.RecordedEntry) error) error {
	return nil
}
func (f largeLedger) Entries(_ context.Context, _ ports.LedgerFilter, each func(ports.RecordedEntry) error) error {
	e := ports.RecordedEntry{Entry: ledger.Entry{Debit: "rails/ACH", Credit: "funding/unmatched", Currency: money.USD, Amount: 1},
		Kind: ledger.KindUnmatchedReceived, Effective: noon, Recorded: noon}
	for i := range int(f) {
		e.Position.Seq, e.Position.N, e.Memo = int64(i+1), 1, fmt.Sprint("memo ", i)
		if err := each(e); err != nil {
			return err
		}
	}
	return nil
}
