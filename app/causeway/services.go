package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/adapters/checkpoints"
	"causeway/adapters/cli"
	localcustody "causeway/adapters/custody/local"
	"causeway/adapters/documentfiles"
	"causeway/adapters/encryption"
	"causeway/adapters/identity/manual"
	sandboxidentity "causeway/adapters/identity/sandbox"
	"causeway/adapters/ids"
	pgbackups "causeway/adapters/pgembed/backups"
	"causeway/adapters/postgres"
	"causeway/adapters/postgres/outbox"
	"causeway/adapters/rails/sandbox"
	"causeway/adapters/secrets"
	"causeway/adapters/signin"
	webhooksender "causeway/adapters/webhooks"
	"causeway/app/accounting"
	"causeway/app/accounts"
	"causeway/app/agents"
	"causeway/app/audit"
	"causeway/app/authentication"
	"causeway/app/backups"
	"causeway/app/books"
	"causeway/app/customers"
	"causeway/app/exports"
	"causeway/app/exports/statement"
	"causeway/app/financials"
	"causeway/app/internal/connections"
	"causeway/app/internal/strongauth"
	"causeway/app/jobs"
	"causeway/app/journals"
	"causeway/app/limits"
	"causeway/app/monthend"
	"causeway/app/people"
	"causeway/app/platforms"
	"causeway/app/pricing"
	"causeway/app/proposals"
	"causeway/app/rails"
	"causeway/app/receivables"
	"causeway/app/treasury"
	"causeway/app/wallets"
	"causeway/app/webhooks"
	"causeway/app/yearend"
	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/uma"
	"causeway/ports"
)

// newEnv returns what the commands are run with.
func newEnv(out, errOut io.Writer) *cli.Env {
	return &cli.Env{Out: out, ErrOut: errOut, Clock: systemClock{}, IDs: ids.New(), Open: openServices, Version: versionText(),
		BaseURL:         func(publicURL string) string { return serverFlags{PublicURL: publicURL}.baseURL(nil) },
		ReadCheckpoints: readCheckpoints, ReadSanctions: readSanctions, OpenBackups: openBackups}
}

// services implements cli.Services. The HTTP API gets the same use cases from it.
type services struct {
	db  *postgres.DB
	ids ports.IDs
	// master and dataKeys are nil unless a command encrypts.
	master   *encryption.Master
	dataKeys *encryption.DataKeys
	release  func() error
	database cli.DatabaseFlags
	// ownership is nil for a command, which has the limits of the servers.
	ownership func(context.Context) (account.OwnershipLimits, error)
}

// auditTimeout limits a statement of the commands that read or write a whole ledger. The service uses a much shorter limit.
const auditTimeout = 24 * time.Hour

// openServices opens the database of a command.
func openServices(ctx context.Context, database cli.DatabaseFlags, access cli.Access) (cli.Services, error) {
	s := services{ids: ids.New(), database: database}
	options := postgres.Options{AllPlatforms: true, NewCipher: cipherOf(database), MaxConnections: 2, Clock: systemClock{}, IDs: s.ids,
		TxOf: newTx}
	if access.Work != cli.AsRequest {
		options.MaxConnections, options.StatementTimeout, options.ForReports = 4, auditTimeout, access.Work == cli.OnBooks
	}
	if access.MasterKey != nil {
		master, err := newSealer(*access.MasterKey, database)
		if err != nil {
			return nil, err
		}
		s.master = master
		options.NewCipher = func(store ports.DataKeyStore) ports.Cipher {
			s.dataKeys = encryption.NewDataKeys(store, master, systemClock{})
			return s.dataKeys
		}
	}
	url, release, err := openDatabase(ctx, database, nil)
	if err != nil {
		return nil, err
	}
	options.URL, s.release = url, release
	if s.db, err = openMigrated(ctx, options); err != nil {
		return nil, errors.Join(err, release())
	}
	return s, nil
}

// Close implements cli.Services.
func (s services) Close() error {
	s.db.Close()
	return s.release()
}

// CheckClock implements cli.Services.
func (s services) CheckClock(ctx context.Context) error {
	if err := s.db.MeasureClock(ctx); err != nil {
		return err
	}
	if s.db.CheckClock() != nil {
		return fmt.Errorf("the clock of this machine differs from the database's by %s; correct it. Nothing was changed",
			s.db.ClockOffset().Abs().Round(time.Millisecond))
	}
	return nil
}

// Recording implements cli.Services.
func (s services) Recording(action platform.OperatorAction) cli.Services {
	s.db = s.db.Recording(action)
	return s
}

// Database implements cli.Services.
func (s services) Database() string {
	if s.database.DatabaseURL == "" {
		if folder, err := filepath.Abs(s.database.Data); err == nil {
			return folder
		}
		return s.database.Data
	}
	c := s.db.Pool().Config().ConnConfig
	return fmt.Sprintf("%s:%d/%s", c.Host, c.Port, c.Database)
}

// Platforms implements cli.Services.
func (s services) Platforms() *platforms.Service { return s.platformsWith(nil) }

func (s services) platformsWith(rails ports.RailsByEnvironment) *platforms.Service {
	return platforms.New(platforms.Config{Store: s.db, Clock: systemClock{}, IDs: s.ids, Rails: rails, Secrets: s.webhookKeys()})
}

// commandTimeout bounds the calls of adapters by commands.
const commandTimeout = 20 * time.Second

// UMAKeys implements cli.Services.
func (s services) UMAKeys(ctx context.Context, p ident.Platform) (uma.KeyRing, error) {
	return s.db.UMAKeys(ctx, p)
}

// WithOperator implements cli.Services.
func (s services) WithOperator(ctx context.Context, by platform.Author, do func(*platforms.Operator) error) error {
	log := logrus.New()
	log.SetLevel(logrus.ErrorLevel)
	opened := newConnections(railAdapters{db: s.db, secrets: secrets.New(), clock: systemClock{}, ids: s.ids, log: log}, commandTimeout)
	defer opened.Close()
	if err := opened.Refresh(ctx); err != nil {
		return err
	}
	byEnvironment := railsByEnvironment(sandbox.New(systemClock{}, 1), connections.NewRail(opened, s.db, s.db))
	operator, err := s.platformsWith(byEnvironment).As(by)
	if err != nil {
		return err
	}
	return do(operator)
}

// People implements cli.Services.
func (s services) People() *people.Service {
	return people.New(people.Config{Store: s.db, Verifier: signin.Verifier{}, Clock: systemClock{}, IDs: s.ids})
}

// Pricing implements cli.Services.
func (s services) Pricing() *pricing.Service {
	return pricing.New(pricing.Config{Store: s.db.Pricing(), Clock: systemClock{}, IDs: s.ids})
}

// Limits implements cli.Services.
func (s services) Limits() *limits.Service {
	return limits.New(limits.Config{Store: s.db, Clock: systemClock{}})
}

// Customers implements cli.Services.
func (s services) Customers() *customers.Service {
	return customers.New(customers.Config{Store: s.db, Clock: systemClock{}, IDs: s.ids, Jobs: s.db})
}

// Accounts implements cli.Services.
func (s services) Accounts() *accounts.Service {
	return accounts.New(accounts.Config{Store: s.db, Ledger: s.db.LedgerReader(), Clock: systemClock{}, IDs: s.ids, Jobs: s.db})
}

// Authentication implements cli.Services. Nobody is authenticated with it.
func (s services) Authentication() *authentication.Service {
	return authentication.New(authentication.Config{Store: s.db, Auth: strongauth.New(strongauth.Config{IDs: s.ids}),
		Liveness: resetChecks, Clock: systemClock{}})
}

// resetChecks check who resets a factor, by the environment of the platform.
var resetChecks = ports.ResetChecksByEnvironment{platform.Sandbox: sandboxidentity.Identity{}, platform.Production: manual.Identity{}}

// Wallets implements cli.Services. Nothing can be signed or sent with them.
func (s services) Wallets() *wallets.Service {
	return wallets.New(wallets.Config{Store: s.db, Ledger: s.db.LedgerReader(), Custody: localcustody.New(s.db), Clock: systemClock{},
		IDs: s.ids})
}

// Agents implements cli.Services.
func (s services) Agents() *agents.Service {
	return agents.New(agents.Config{Store: s.db, Clock: systemClock{}, IDs: s.ids})
}

// Verifications implements cli.Services. Names are compared on every platform that an operator reviews.
func (s services) Verifications(threshold int) *customers.Verifications {
	screener := customers.NewScreener(s.db, threshold)
	return customers.NewVerifications(customers.VerificationsConfig{
		Store: s.db, Clock: systemClock{}, IDs: s.ids,
		Sanctions: customers.Screeners{platform.Production: screener, platform.Sandbox: screener}})
}

// Screening implements cli.Services.
func (s services) Screening(threshold int) *customers.Screening {
	return customers.NewScreening(s.Verifications(threshold), s.db)
}

// Documents implements cli.Services.
func (s services) Documents(flags cli.BlobFlags) (*customers.Documents, error) {
	files, err := openFiles(flags)
	if err != nil {
		return nil, err
	}
	return customers.NewDocuments(s.Customers(), customers.DocumentsConfig{Files: files, Check: documentfiles.New(1)}), nil
}

// Rails implements cli.Services.
func (s services) Rails() *rails.Service {
	log := logrus.New()
	log.SetOutput(io.Discard) // the adapter says what is wrong with an error
	return newRails(railAdapters{db: s.db, secrets: secrets.New(), clock: systemClock{}, ids: s.ids, log: log})
}

// newRails returns the use cases of operators on connections.
func newRails(a railAdapters) *rails.Service {
	return rails.New(rails.Config{
		Store: a.db, Connections: a.db.Connections(), Balances: a.db, Proofs: a.db, Finance: a.db.Finance(), Feeds: a.db,
		Statements: a.db, Lost: a.db, BankNotices: a.bankFiles(), Open: a.openConnection, Clock: a.clock, IDs: a.ids})
}

// Jobs implements cli.Services.
func (s services) Jobs() *jobs.Service {
	return jobs.New(jobs.Config{Store: s.db, Jobs: s.db, Clock: systemClock{}, IDs: s.ids})
}

// Webhooks implements cli.Services, with what replaces their keys.
func (s services) Webhooks() *webhooks.Service {
	return webhooks.New(webhooks.Config{Keys: s.webhookKeys(), Clock: systemClock{}})
}

func (s services) webhookKeys() *webhooksender.Keyring {
	return webhooksender.NewKeyring(outbox.NewKeys(s.db.Pool()), s.db, s.master, systemClock{}, s.ids)
}

// Backups implements cli.Services.
func (s services) Backups() *backups.Service { return backups.New(s.db) }

// openBackups returns the backups that flags name.
func openBackups(f cli.BackupFlags) ports.BackupSource {
	log := logrus.New()
	log.SetOutput(io.Discard) // the errors say what is wrong
	if f.PgBackRestStanza != "" {
		return pgbackups.NewPgBackRest(f.PgBackRestStanza, f.PgBackRestConfig, f.Folder(), log)
	}
	return pgbackups.NewBaseBackups(f.BaseBackup, f.WALArchive, f.RestoreCommand, f.Folder(), log)
}

// Accounting implements cli.Services.
func (s services) Accounting() *accounting.Service { return s.accountingWith(nil) }

// accountingWith returns the use cases with the present rates of the market; without them those that were kept are used.
func (s services) accountingWith(market ports.Rates) *accounting.Service {
	return accounting.New(accounting.Config{
		Store: s.db, Ledger: s.db.Finance(), WebhookLog: outbox.NewLog(s.db.ReadPool(), s.db.Cipher()),
		Market: market, KeptRates: s.db, OwnershipLimits: s.ownershipLimits, Clock: systemClock{}, IDs: s.ids})
}

// Periods implements cli.Services.
func (s services) Periods() *accounting.Periods {
	return accounting.NewPeriods(accounting.PeriodsConfig{
		Store: s.db, Archiver: s.db, Ledger: s.db.LedgerReader(), Finance: s.db.Finance(),
		Clock: systemClock{}, IDs: s.ids})
}

// Books implements cli.Services.
func (s services) Books() *books.Service {
	return books.New(books.Config{Store: s.db, Finance: s.db.Finance(), Clock: systemClock{}, IDs: s.ids})
}

// MonthEnd implements cli.Services.
func (s services) MonthEnd() *monthend.Service {
	return monthend.New(monthend.Config{Store: s.db, Results: s.db, Postings: s.db.LedgerReader(), Views: s.db.MonthEndViews(),
		KeptRates: s.db, Receivables: s.db, Balances: s.db.Finance(), Clock: systemClock{}, IDs: s.ids})
}

// Financials implements cli.Services.
func (s services) Financials() *financials.Service {
	return financials.New(financials.Config{Store: s.db, Ledger: s.db.Finance(), Views: s.db.MonthEndViews()})
}

// Years implements cli.Services.
func (s services) Years() *yearend.Service {
	return yearend.New(yearend.Config{Store: s.db, Ledger: s.db.LedgerReader(), Clock: systemClock{}, IDs: s.ids})
}

// Journals implements cli.Services.
func (s services) Journals() *journals.Service {
	return journals.New(journals.Config{Store: s.db, Ledger: s.db.Finance(), Clock: systemClock{}})
}

// Treasury implements cli.Services.
func (s services) Treasury() *treasury.Service {
	return treasury.New(treasury.Config{Store: s.db, Ledger: s.db.Finance(), Balances: s.db.Readers().LedgerReader(), KeptRates: s.db,
		Proofs: s.db, Connections: s.db, Clock: systemClock{}, IDs: s.ids})
}

// Receivables implements cli.Services.
func (s services) Receivables() *receivables.Service {
	return receivables.New(receivables.Config{Store: s.db, Clock: systemClock{}, IDs: s.ids})
}

// Reconciliation implements cli.Services.
func (s services) Reconciliation() cli.Reconciliation { return newReconciliation(s.db, s.ids) }

// Proposals implements cli.Services, with every operation that may need four eyes.
func (s services) Proposals() *proposals.Service {
	return proposals.New(proposals.Config{
		Store: s.db, Clock: systemClock{}, IDs: s.ids, Executors: slices.Concat(
			s.Accounting().Executors(), s.Periods().Executors(), s.Books().Executors(), s.Treasury().Executors(), s.Receivables().Executors(),
			s.MonthEnd().Executors(), s.Years().Executors(), newReconciliation(s.db, s.ids).Executors(), s.Rails().Executors(),
		)})
}

// Exports implements cli.Services.
func (s services) Exports(company statement.Company, progress func(done, total int64)) *exports.Service {
	return exports.New(exports.Config{Views: s.db.LedgerViews(), Store: s.db, Clock: systemClock{}, Company: company, Progress: progress})
}

// Audit implements cli.Services.
func (s services) Audit() *audit.Checker { return newAudit(s.db) }

// Log implements cli.Services.
func (s services) Log() *audit.Log {
	return audit.NewLog(audit.LogConfig{Log: s.db.LedgerLog(), Evidence: s.db.EvidenceLog(), Clock: systemClock{}})
}

// CheckpointKeys implements cli.Services.
func (s services) CheckpointKeys(ctx context.Context) ([]ports.SealedCheckpointKey, error) {
	return s.db.LedgerLog().CheckpointKeys(ctx)
}

// RotateLedgerKey implements cli.Services. It does not need the old key, which may be lost.
func (s services) RotateLedgerKey(ctx context.Context) (ports.CheckpointKey, error) {
	return checkpoints.NewKeyring(s.db.LedgerLog(), s.master, systemClock{}, s.ids).Rotate(ctx)
}
