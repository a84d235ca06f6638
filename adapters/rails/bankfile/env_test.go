package bankfile_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/sirupsen/logrus"

	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/adapters/postgres/storage"
	"causeway/adapters/rails/bankfile"
	"causeway/adapters/rails/bankfile/transport"
	"causeway/adapters/rails/bankfile/transport/sftptest"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/party"
	"causeway/core/platform"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
	"causeway/ports/portstest"
)

// noon is a Tuesday.
var noon = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

// database is a store and a platform.
type database struct {
	*bankfile.Store
	ids      *ids.Generator
	db       *postgres.DB
	platform ident.Platform
	clock    *portstest.FakeClock
}

// adapter is the adapter of a process. Payments are recorded as handed over before they are sent.
type adapter struct {
	opened
	portstest.HandingOver
}

type opened struct{ *bankfile.Adapter }

func openDatabase(t testing.TB) database {
	t.Helper()
	d := database{ids: ids.New(), clock: portstest.NewFakeClock(noon)}
	db, err := postgres.Open(t.Context(), postgres.Options{URL: pgtest.SimulateClock(t, pgtest.New(t)), AllPlatforms: true, MaxConnections: 8,
		Clock: d.clock, IDs: d.ids})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	d.Store, d.db = bankfile.NewStore(db.Storage(), nil), db
	d.platform = d.newPlatform(t, "Here")
	return d
}

func (d database) newPlatform(t testing.TB, name string) ident.Platform {
	t.Helper()
	p, err := platform.New(ident.NewPlatform(d.ids.New, noon), name, platform.Sandbox, false, noon)
	if err == nil {
		err = d.db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error { return tx.CreatePlatform(ctx, p) })
	}
	if err != nil {
		t.Fatal(err)
	}
	return p.ID
}

// europe returns a connection to a bank in Germany, and america one in the United States, with a folder.
func europe(name, folder string) rail.Connection {
	return rail.Connection{Name: name, Adapter: rail.BankFile, Version: 1, Rails: []corridor.Rail{corridor.SEPA},
		Currencies: []money.Currency{"EUR"},
		Settings: map[string]string{"folder": folder, "accountHolder": "Causeway GmbH", "iban": "DE89370400440532013000", "bic": "COBADEFFXXX",
			"bankName":   "Commerzbank",
			"customerId": "C123", "customerIdScheme": "BANK", "stableFor": "0s"}}
}

func america(name, folder string) rail.Connection {
	return rail.Connection{Name: name, Adapter: rail.BankFile, Version: 1, Rails: []corridor.Rail{corridor.ACH},
		Currencies: []money.Currency{"USD"},
		Settings: map[string]string{"folder": folder, "accountHolder": "Causeway Inc", "routingNumber": "121042882",
			"accountNumber": "4210000017", "bankName": "Wells Fargo",
			"achOrigin": "1234567890", "achCompanyId": "1234567890", "cutEvery": "1m", "stableFor": "0s"}}
}

// inbox makes the folders of a bank.
func makeFolders(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for _, folder := range []string{"out", "in", "archive"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// bank takes files as soon as they have a name that it takes, and keeps them.
type bank struct {
	dir string

	mu    sync.Mutex
	taken map[string][]string // contents of the files with a name
}

func newBank(t testing.TB) *bank { return &bank{dir: makeFolders(t), taken: map[string][]string{}} }

// take takes the files that are there.
func (b *bank) take() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	entries, err := os.ReadDir(filepath.Join(b.dir, "out"))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".tmp") {
			continue
		}
		name := filepath.Join(b.dir, "out", e.Name())
		content, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err := errors.Join(err, os.Remove(name)); err != nil {
			return err
		}
		b.taken[e.Name()] = append(b.taken[e.Name()], string(content))
	}
	return nil
}

// leftovers returns the uploads that were not finished.
func (b *bank) leftovers(t testing.TB) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(b.dir, "out", "*.tmp"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// openTransport opens the transport for the folders of a bank.
type openTransport func(t testing.TB, dir string) transport.Transport

func folderTransport(t testing.TB, dir string) transport.Transport {
	t.Helper()
	folder, err := transport.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = folder.Close() })
	return folder
}

func sftpTransport(server *sftptest.Server) openTransport {
	return func(t testing.TB, dir string) transport.Transport {
		t.Helper()
		client, err := transport.NewSFTP(transport.SFTPConfig{Address: server.Address, User: server.User, Base: dir, HostKeys: server.Fingerprint,
			Login: func(context.Context) (transport.Login, error) {
				return transport.Login{PrivateKey: server.PrivateKey}, nil
			}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Close() })
		return client
	}
}

// testLog shows what is logged with -v.
func testLog(t testing.TB) *logrus.Logger {
	log := logrus.New()
	log.SetOutput(io.Discard)
	if testing.Verbose() {
		log.SetOutput(t.Output())
	}
	return log
}

// open opens the adapter of a process.
func (d database) open(t testing.TB, c rail.Connection, store *bankfile.Store, tr transport.Transport) *adapter {
	t.Helper()
	a, err := bankfile.Open(bankfile.Config{Connection: c, Store: store, Clock: d.clock, IDs: d.ids, Log: testLog(t), Transport: tr})
	if err != nil {
		t.Fatal(err)
	}
	return &adapter{opened{a}, portstest.HandingOver{To: a, Handover: d.handover(c.Name)}}
}

// storeOn returns the store as a process has it whose pool is another one.
func (d database) storeOn(pool storage.Pool) *bankfile.Store {
	return bankfile.NewStore(storage.New(pool, d.clock), nil)
}

// handover records the payments of a connection.
func (d database) handover(connection string) *portstest.RailHandover {
	return portstest.NewRailHandover(d.db, connection, d.clock)
}

func german() account.External {
	return account.External{Currency: "EUR", Fields: map[string]string{"iban": "DE02120300000000202051", "swiftCode": "BYLADEM1001"},
		Beneficiary: &account.Beneficiary{Type: account.Individual, FullName: "Jürgen Müller"}}
}

func american(kind account.BeneficiaryType) account.External {
	b := &account.Beneficiary{Type: kind, FullName: "Ana Silva", LegalName: "Silva & Sons LLC",
		Address: &party.Address{Line1: "1 Main St", City: "Springfield", State: "IL", PostalCode: "62701", Country: "US"}}
	return account.External{Type: account.USAccount, Currency: "USD", Beneficiary: b,
		Fields: map[string]string{"accountNumber": "123456789", "routingNumber": "021000021", "bankAccountType": "SAVINGS"}}
}

// payout returns a payout of 10.00 and more; equal numbers have equal ids within a series.
func (d database) payout(series string, n int, r corridor.Rail) ports.Payout {
	p := ports.Payout{Account: german(), Transaction: transaction.Transaction{Platform: d.platform, DestinationRail: r,
		Reference: fmt.Sprintf("REF%d", n),
		Pricing:   transaction.Pricing{Received: money.Amount{Minor: 10_00 + int64(n), Currency: "EUR"}}}}
	if r == corridor.ACH {
		p.Account = american([]account.BeneficiaryType{account.Individual, account.Business}[n%2])
		p.Transaction.Pricing.Received.Currency = "USD"
	}
	p.Transaction.ID.SetUUID(seriesID(series, n))
	return p
}

func (d database) collection(series string, n int) ports.Collection {
	c := ports.Collection{Account: american([]account.BeneficiaryType{account.Individual, account.Business}[n%2]),
		Transaction: transaction.Transaction{Platform: d.platform,
			SourceRail: corridor.ACH, Reference: fmt.Sprintf("REF%d", n),
			Pricing: transaction.Pricing{Sent: money.Amount{Minor: 20_00 + int64(n), Currency: "USD"}}}}
	c.Transaction.ID.SetUUID(seriesID(series, n))
	return c
}

func seriesID(series string, n int) uuid.UUID {
	return uuid.NewSHA1(uuid.NameSpaceOID, fmt.Appendf(nil, "%s %d", series, n))
}

// waiting reports whether all outcomes are those of orders that were taken.
func waiting(outcomes []ports.Outcome) bool {
	return !slices.ContainsFunc(outcomes, func(o ports.Outcome) bool { return o.Verdict != ports.Waiting })
}

func (d database) setClock(at time.Time) { d.clock.Advance(at.Sub(d.clock.Now())) }
