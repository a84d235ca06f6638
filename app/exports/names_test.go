package exports_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/app/exports"
	"causeway/app/exports/plaintext"
	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
	"causeway/ports/portstest"
)

// customerNames are names of customers, also such that some program could interpret.
var customerNames = []string{"Ada Lovelace", "Ada Lovelace", "ünal özgür", "李雷", "=cmd|' /C calc'!A0", "O'Brien & Söhne (GmbH); \"x\"",
	"🦊", "3M"}

// newNamedEnv is an environment with a customer of each name, each with two accounts, and one of the
// platform.
func newNamedEnv(t *testing.T) (e *env, customers []customer.Customer, accounts []account.Internal) {
	t.Helper()
	e = newEnv(t)
	for i, name := range customerNames {
		c := e.NewCustomer(fmt.Sprint("customer", i), func(c *customer.Customer) {
			c.FullName = name
			if i%2 == 1 {
				c.Type, c.Business, c.FullName = customer.Business, &customer.BusinessInfo{LegalName: name}, ""
			}
		})
		customers = append(customers, c)
		accounts = append(accounts, e.NewInternalAccount(c.ID, "USD", int64(100+i)), e.NewInternalAccount(c.ID, "EUR", int64(200+i)))
	}
	e.NewInternalAccount(customer.Customer{}.ID, "USD", 5)
	return e, customers, accounts
}

func (e *env) updateCustomer(c customer.Customer) {
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		if _, err := tx.LockCustomer(ctx, c.Platform, c.ID); err != nil {
			return err
		}
		return tx.UpdateCustomer(ctx, c)
	})
}

func TestExport_NamesInJournals(t *testing.T) {
	t.Parallel()
	// With names, each program reads the journal in its strictest mode, and reports the balances of our
	// ledger on accounts below the name of their customer.
	env, customers, accounts := newNamedEnv(t)
	erased := customers[0].Erase(env.Clock.Now())
	env.updateCustomer(erased)
	customers[0] = erased
	for format, balances := range map[exports.Format]func(*testing.T, string) map[[2]string]string{
		exports.HLedger: hledgerBalances, exports.Ledger: ledgerBalances, exports.Beancount: beancountBalances,
	} {
		journal := env.mustExport(exports.Request{Format: format, Names: true})
		got := balances(t, journal)
		for i, a := range accounts {
			owner := customers[i/2]
			name, err := plaintext.NamedAccount(a.LedgerPath(), ports.AccountHolder{Customer: owner.ID, Type: owner.Type, Name: owner.Name()})
			if err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprintf("-%d.%02d", (100+i%2*100+i/2)/100, (100+i/2)%100)
			if balance := got[[2]string{name, string(a.Currency)}]; !equalDecimals(balance, want) {
				t.Errorf("%s: the balance of %s is %q, want %s", format, name, balance, want)
			}
		}
		for _, want := range []string{":Ada-Lovelace-", ":Customer-", ":Ünal-özgür-", ":Customer-李雷-", ":3M-"} {
			if !strings.Contains(journal, want) {
				t.Errorf("%s: %q is missing", format, want)
			}
		}
	}
}

func TestExport_NamesInCSV(t *testing.T) {
	t.Parallel()
	// With names, a CSV file has two more columns; a name that is a formula is escaped, and that of an
	// erased customer is empty. Accounts of the platform have none.
	env, customers, accounts := newNamedEnv(t)
	env.updateCustomer(customers[2].Erase(env.Clock.Now()))
	want := map[string]string{}
	for i, a := range accounts {
		want[a.LedgerPath()] = customers[i/2].Name()
	}
	for path := range want {
		switch want[path] {
		case customers[2].Name():
			want[path] = ""
		case customers[4].Name():
			want[path] = "'" + want[path]
		}
	}

	rows := csvRows(t, env.mustExport(exports.Request{Format: exports.CSV, Names: true}))

	for _, row := range rows {
		for _, side := range []string{"debit", "credit"} {
			if got, present := row[side+"_customer"]; !present || got != want[row[side]] {
				t.Errorf("%s: %q, want %q", row[side], got, want[row[side]])
			}
		}
	}
	if len(rows) != len(accounts)+1 {
		t.Errorf("%d rows", len(rows))
	}
}

func TestExportCamt053_OwnerAndServicer(t *testing.T) {
	t.Parallel()
	// A statement names the owner of the account, a customer with names only, and the company that
	// keeps it.
	env, customers, accounts := newNamedEnv(t)
	for names, want := range map[bool]string{true: customers[1].Name(), false: ""} {
		statements := env.exportCamt(t, exports.Request{Names: names})
		owned := statements[[2]string{accounts[2].LedgerPath(), "USD"}][0]
		id := strings.ReplaceAll(customers[1].ID.UUID().String(), "-", "")
		if owned.owner != want || owned.ownerID != id || owned.servicer != "Causeway Payments Ltd" {
			t.Errorf("names %t: the statement of a customer: %+v", names, owned)
		}
		if rail := statements[[2]string{"rails/ACH", "USD"}][0]; rail.owner != env.Platform.Name || rail.ownerID != "" {
			t.Errorf("names %t: the statement of the rail: %+v", names, rail)
		}
		text := env.mustExport(exports.Request{Format: exports.Camt053, Names: names, LedgerFilter: ports.LedgerFilter{Path: "rails/ACH"}})
		if strings.Contains(text, accounts[2].LedgerPath()+" Ada Lovelace<") != names {
			t.Errorf("names %t: the other side of entries:\n%s", names, text)
		}
	}
}

func TestExport_NamesOnlyIfRequested(t *testing.T) {
	t.Parallel()
	// Without names no export has one, and renaming a customer changes no byte of it. With names only the
	// name differs.
	env, customers, _ := newNamedEnv(t)
	export := func(names bool) map[exports.Format]string {
		all := map[exports.Format]string{}
		for format := range goldenFiles {
			all[format] = env.mustExport(exports.Request{Format: format, Names: names})
		}
		return all
	}
	before, named := export(false), export(true)
	renamed := customers[0]
	renamed.FullName = "Ada King"
	env.updateCustomer(renamed)

	after, namedAfter := export(false), export(true)

	for format := range goldenFiles {
		if before[format] != after[format] || strings.Contains(before[format], "Lovelace") || strings.Contains(before[format], "Brien") {
			t.Errorf("%s without names:\n%.3000s\n%.3000s", format, before[format], after[format])
		}
		was := strings.NewReplacer("Ada King", "Ada Lovelace", "Ada-King", "Ada-Lovelace").Replace(namedAfter[format])
		if named[format] != was || named[format] == namedAfter[format] {
			t.Errorf("%s with names:\n%.3000s\n%.3000s", format, named[format], namedAfter[format])
		}
	}
}

// manyAccounts is a ledger with an entry on each of so many accounts of customers, twice, and a store of
// their holders.
type manyAccounts struct {
	fakeLedger
	accounts, largestRead int
}

func manyAccount(n int) (id ident.InternalAccount) {
	id.SetUUID(uuid.UUID{1, 12: byte(n >> 16), 13: byte(n >> 8), 14: byte(n), 15: 1})
	return id
}

func (m *manyAccounts) View(ctx context.Context, _ ident.Platform, _ time.Time, fn func(context.Context, ports.LedgerView) error) error {
	return fn(ctx, m)
}

func (m *manyAccounts) Entries(_ context.Context, _ ports.LedgerFilter, each func(ports.RecordedEntry) error) error {
	e := ports.RecordedEntry{Entry: ledger.Entry{Debit: "rails/ACH", Currency: money.USD, Amount: 1}, Kind: ledger.KindDeposit}
	for i := range 2 * m.accounts {
		e.Position.Seq, e.Position.N, e.Credit = int64(i+1), 1, ledger.CustomerAccount(manyAccount(i%m.accounts))
		if err := each(e); err != nil {
			return err
		}
	}
	return nil
}

func (m *manyAccounts) AccountHolders(_ context.Context, _ ident.Platform, accounts []ident.InternalAccount,
	_ bool) (map[ident.InternalAccount]ports.AccountHolder, error) {
	m.largestRead = max(m.largestRead, len(accounts))
	found := map[ident.InternalAccount]ports.AccountHolder{}
	for _, id := range accounts {
		h := ports.AccountHolder{Name: "Holder of " + id.String()}
		h.Customer.SetUUID(id.UUID())
		found[id] = h
	}
	return found, nil
}

func TestExport_NamesOfManyAccounts(t *testing.T) {
	t.Parallel()
	// Holders are read in batches, also of more accounts than are kept in memory.
	many := &manyAccounts{accounts: 50_000}
	document, err := exports.New(exports.Config{Views: many, Store: many, Clock: portstest.NewFakeClock(noon)}).Export(platformID(1),
		exports.Request{Format: exports.CSV, Names: true})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer

	if err := document.Write(t.Context(), &out); err != nil {
		t.Fatal(err)
	}

	rows := csvRows(t, out.String())
	for i, row := range rows {
		if want := "Holder of " + manyAccount(i%many.accounts).String(); row["credit_customer"] != want || row["debit_customer"] != "" {
			t.Fatalf("row %d: %v, want %q", i, row, want)
		}
	}
	if len(rows) != 2*many.accounts || many.largestRead > 1000 {
		t.Errorf("%d rows, %d holders in one read", len(rows), many.largestRead)
	}
}
