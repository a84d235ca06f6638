package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	_ "time/tzdata" // for containers without a time zone database

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/sirupsen/logrus"

	sandboxbeneficiaries "causeway/adapters/beneficiaries/sandbox"
	sandboxcounterparties "causeway/adapters/counterparties/sandbox"
	localcustody "causeway/adapters/custody/local"
	"causeway/adapters/documentfiles"
	"causeway/adapters/encryption"
	httpapi "causeway/adapters/http"
	"causeway/adapters/ids"
	"causeway/adapters/postgres"
	sandboxrail "causeway/adapters/rails/sandbox"
	"causeway/adapters/rails/timeout"
	"causeway/adapters/rates/ecb"
	"causeway/adapters/secrets"
	"causeway/adapters/signin"
	"causeway/adapters/uma"
	"causeway/app/accounting"
	"causeway/app/accounts"
	"causeway/app/agents"
	"causeway/app/audit"
	"causeway/app/authentication"
	"causeway/app/books"
	"causeway/app/customers"
	"causeway/app/exports"
	"causeway/app/financials"
	"causeway/app/internal/batch"
	"causeway/app/internal/connections"
	"causeway/app/internal/jobs"
	"causeway/app/internal/mails"
	"causeway/app/internal/prices"
	"causeway/app/internal/strongauth"
	operatorjobs "causeway/app/jobs"
	"causeway/app/journals"
	"causeway/app/mail"
	"causeway/app/monthend"
	"causeway/app/payments"
	"causeway/app/people"
	"causeway/app/platformfees"
	"causeway/app/platforms"
	"causeway/app/processes"
	"causeway/app/proposals"
	"causeway/app/rails"
	"causeway/app/receivables"
	"causeway/app/receivers"
	"causeway/app/requestlogs"
	"causeway/app/search"
	"causeway/app/treasury"
	"causeway/app/wallets"
	"causeway/app/webhooks"
	"causeway/app/yearend"
	"causeway/core/account"
	"causeway/core/platform"
	"causeway/core/requestlog"
	"causeway/core/settlement"
	"causeway/ports"
)

// maxBatchDelay is the longest a request waits for others to be committed with it, if several were lately in flight.
const maxBatchDelay = 2 * time.Millisecond

// maxDocumentChecks is how many files are checked at the same time. A check takes processor time from
// payments.
const maxDocumentChecks = 2

// app is the wired service: every use case with its adapters.
type app struct {
	serverFlags
	databaseURL     string
	master          *encryption.Master
	log             *logrus.Logger
	db              *postgres.DB
	metrics         *prometheus.Registry
	jobMetrics      *jobMetrics
	identityMetrics *identityMetrics // nil unless --identity is provider
	nameCheck       ports.Beneficiaries
	platforms       *platforms.Service
	idempotency     *platforms.IdempotencyStore
	customers       *customers.Service
	imports         *customers.Imports
	invitations     *customers.Invitations
	verifications   *customers.Verifications
	screening       *customers.Screening
	documents       *customers.Documents
	files           ports.Files // nil if not configured
	kycLinks        *customers.KYCLinks
	authentication  *authentication.Service
	mailers         ports.MailersByEnvironment
	sms             ports.SMSSendersByEnvironment
	mailMetrics     *mailMetrics
	mails           *mails.Queue
	strongAuth      *strongauth.Auth
	mailSender      *mail.Service
	custody         ports.Custody
	accounts        *accounts.Service
	payments        *payments.Service
	people          *people.Service
	jobs            *operatorjobs.Service
	receivers       *receivers.Service
	uma             *uma.Provider
	accounting      *accounting.Service
	treasury        *treasury.Service
	receivables     *receivables.Service
	platformFees    *platformfees.Service
	reconciliation  *reconciliations
	periods         *accounting.Periods
	books           *books.Service
	monthEnd        *monthend.Service
	financials      *financials.Service
	years           *yearend.Service
	journals        *journals.Service
	proposals       *proposals.Service
	webhooks        *webhooks.Service
	sealing         *audit.Log
	exports         *exports.Service
	exportFiles     *exports.Files
	walletProofs    ports.WalletProofsByEnvironment
	wallets         *wallets.Service
	requestLog      *requestlogs.Service
	search          *search.Service
	processes       *processes.Service
	agents          *agents.Service
	ecbRates        *ecb.Rates // nil unless --rates is ecb
	connections     *connections.Connections
	connectedRail   *connections.Rail
	feeds           *payments.Feeds
	rails           *rails.Service
	operations      *operations
	outage          *outage
	timetable       *settlement.Timetable
	ownershipLimits account.OwnershipLimits
	draining        atomic.Bool // shutting down
	stopping        <-chan struct{}
	traces          *traces // nil if nothing is traced
}

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now().UTC() }

// build wires the service to a migrated database.
func build(ctx context.Context, c serverFlags, databaseURL string, master *encryption.Master, log *logrus.Logger) (*app, error) {
	a := &app{serverFlags: c, databaseURL: databaseURL, master: master, log: log, metrics: prometheus.NewRegistry(), outage: new(outage)}
	var err error
	if a.files, err = openFiles(c.BlobFlags); err != nil {
		return nil, err
	}
	if a.mailers, err = c.openMailers(); err != nil {
		return nil, err
	}
	if a.sms, err = c.openSMS(); err != nil {
		return nil, err
	}
	if a.traces, err = c.openTraces(ctx, log); err != nil {
		return nil, err
	}
	log.SetFormatter(outageFormatter{log.Formatter, a.outage})
	a.metrics.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	idGenerator := ids.New()
	var dataKeys *encryption.DataKeys
	a.db, err = openMigrated(ctx, postgres.Options{
		URL: databaseURL, MaxConnections: int32(c.Connections),
		ReadURL: c.databaseReadURL, MaxReadConnections: int32(c.ReadConnections), ReadTimeout: c.ReportTimeout,
		Clock: systemClock{}, IDs: idGenerator, TxOf: newTx,
		Emitted: func(queued []ports.CommittedWebhook) { a.webhooks.HandOver(queued) },
		StandbyBehind: func(address string) {
			a.log.WithField("standby", address).Warn("the standby for reading is more than a second behind; the primary is read meanwhile")
		},
		LostCommits: func(lost int) { a.log.WithField("commits", lost).Error(lostCommitsLogged) },
		Panicked: func(value any, stack []byte) {
			a.log.WithField("stack", string(stack)).Errorf("panic while watching the database servers: %v", value)
		},
		NewCipher: func(store ports.DataKeyStore) ports.Cipher {
			dataKeys = encryption.NewDataKeys(store, master, systemClock{})
			return dataKeys
		},
	})
	if err != nil {
		return nil, err
	}
	a.db.OnDatabaseChange(func() {
		a.log.Warn("the database was started or replaced since the last connection to it; what was cached is read again")
		dataKeys.Forget()
	})
	if err := errors.Join(a.ensureDataKey(ctx, dataKeys), a.openSealing(master, idGenerator)); err != nil {
		a.db.Close()
		return nil, err
	}
	a.openWebhooks(master, idGenerator)
	marketRates, err := a.openRates(ctx)
	if err == nil {
		a.ownershipLimits, _ = account.ParseOwnershipLimits(a.OwnershipLimits) // validate has checked them
		a.timetable, err = settlement.NewTimetable(time.LoadLocation)
	}
	if err != nil {
		a.db.Close()
		return nil, err
	}
	a.registerClockMetric()
	a.registerOperations()
	a.measureClock(ctx)
	identities, err := a.openIdentity()
	if err != nil {
		a.db.Close()
		return nil, err
	}
	if a.nameCheck, err = a.openNameCheck(idGenerator); err != nil {
		a.db.Close()
		return nil, err
	}
	a.wire(idGenerator, marketRates, identities)
	if err := a.connections.Refresh(ctx); err != nil {
		a.db.Close()
		return nil, fmt.Errorf("read the connections to partners: %w", err)
	}
	return a, nil
}

// wire creates the use cases with their adapters.
func (a *app) wire(idGenerator *ids.Generator, marketRates ports.Rates, identities ports.IdentityByEnvironment) {
	log, shared := logrus.NewEntry(a.log), services{db: a.db, ids: idGenerator,
		ownership: func(context.Context) (account.OwnershipLimits, error) { return a.ownershipLimits, nil }}
	adapters := railAdapters{db: a.db, secrets: secrets.New(), clock: systemClock{}, ids: idGenerator, log: a.log}
	a.connections, a.rails = newConnections(adapters, a.RailTimeout), newRails(adapters)
	a.connectedRail = connections.NewRail(a.connections, a.db, a.db)
	simulatedRail := sandboxrail.New(systemClock{}, a.SandboxSpeed)
	byEnvironment := railsByEnvironment(timeout.New(simulatedRail, a.RailTimeout, a.log), a.connectedRail)
	a.jobMetrics = newJobMetrics(a.metrics)
	rails := newRailSelector(a.db, byEnvironment, a.walletChains())
	a.uma = a.newUMA(rails, idGenerator)
	counterparties := ports.CounterpartiesByEnvironment{platform.Sandbox: sandboxcounterparties.New(a.SandboxUMADomain),
		platform.Production: a.uma}
	quotePrices := prices.New(a.db, marketRates, systemClock{})
	a.db.OnDatabaseChange(quotePrices.Invalidate)
	a.db.OnDatabaseChange(a.connections.Reopen)
	a.platforms = platforms.New(platforms.Config{
		Store: a.db, Clock: systemClock{}, IDs: idGenerator, Rails: byEnvironment,
		Prices: quotePrices, AllowPrivateWebhooks: a.AllowPrivateWebhooks})
	a.idempotency = platforms.NewIdempotencyStore(a.db)
	a.mailMetrics = newMailMetrics(a.metrics)
	a.mails = mails.New(mails.Config{IDs: idGenerator, Mailers: a.mailers, SMS: a.sms, From: a.sender(), MaxPerHour: a.MailsPerHour,
		MaxSMSPerHour: a.SMSPerHour})
	due := jobs.SharePoll(a.db)
	a.mailSender = mail.New(mail.Config{
		Store: a.db, Jobs: due, Mailers: a.mailers, SMS: a.sms, Clock: systemClock{}, Log: log, JobMetrics: a.jobMetrics,
		Metrics: a.mailMetrics})
	screener := customers.NewScreener(a.db, a.ScreeningThreshold)
	sanctions := customers.Screeners{platform.Production: screener}
	a.walletProofs = a.newWalletProofs()
	a.customers = customers.New(customers.Config{
		Store: a.db, Clock: systemClock{}, IDs: idGenerator, Rails: byEnvironment,
		Identity: identities, Sanctions: sanctions, WalletProofs: a.walletProofs, Mails: a.mails, Jobs: due, Log: log,
		JobRetry: a.retryPolicy(), JobMetrics: a.jobMetrics})
	host, _ := os.Hostname() // an empty name is shown as it is
	a.processes = processes.New(a.db, systemClock{}, idGenerator, host, version, a.OwnershipLimits)
	a.connections.Called = a.processes.CountCall
	a.search = search.New(a.db, systemClock{}, idGenerator)
	a.imports = customers.NewImports(a.customers)
	a.db.OnDatabaseChange(a.imports.ForgetPrepared)
	a.invitations = customers.NewInvitations(customers.InvitationsConfig{
		Store: a.db, Clock: systemClock{}, IDs: idGenerator})
	a.verifications = customers.NewVerifications(customers.VerificationsConfig{
		Store: a.db, Clock: systemClock{}, IDs: idGenerator,
		Identity: identities, Sanctions: sanctions, Jobs: due, Log: log, JobRetry: a.retryPolicy(), JobMetrics: a.jobMetrics})
	a.screening = customers.NewScreening(a.verifications, a.db)
	a.documents = customers.NewDocuments(a.customers, customers.DocumentsConfig{Files: a.files, Check: documentfiles.New(maxDocumentChecks)})
	a.kycLinks = customers.NewKYCLinks(customers.KYCLinksConfig{
		Store: a.db, Clock: systemClock{}, IDs: idGenerator})
	a.custody = localcustody.New(a.db)
	a.strongAuth = strongauth.New(strongauth.Config{Proofs: a.walletProofs, TOTP: signin.Verifier{}, Mails: a.mails, IDs: idGenerator})
	a.accounts = accounts.New(accounts.Config{
		Auth: a.strongAuth, Store: a.db, Ledger: a.db.LedgerReader(), Clock: systemClock{}, IDs: idGenerator,
		WalletProofs: a.walletProofs, Liveness: livenessOf(identities), OwnershipLimits: a.ownershipLimits, Jobs: due, Log: log,
		JobRetry: a.retryPolicy(), JobMetrics: a.jobMetrics,
		Beneficiaries: ports.BeneficiariesByEnvironment{
			platform.Sandbox: sandboxbeneficiaries.Beneficiaries{}, platform.Production: reachableBeneficiaries{a.nameCheck,
				a.connectedRail}}})
	a.payments = payments.New(payments.Config{
		Auth: a.strongAuth, Store: a.db, Jobs: due, Rails: rails, Simulated: simulatedRail, Chains: rails, Custody: a.custody,
		WalletProofs: a.walletProofs, Prices: quotePrices, OwnershipLimits: a.ownershipLimits, Timetable: a.timetable,
		Counterparties: counterparties,
		Lightning:      rails, Screening: screener,
		Approvals: approvals{a.webhooks}, Clock: systemClock{}, IDs: idGenerator, Log: log,
		Batches: batch.Options{MaxSize: a.BatchSize, MaxWaiting: a.MaxWaiting, MaxDelay: maxBatchDelay, Timeout: a.BatchTimeout,
			Observer: newBatchMetrics(a.metrics)},
		JobRetry: a.retryPolicy(), JobMetrics: a.jobMetrics, Spans: a.traces.spans()})
	a.db.OnDatabaseChange(a.payments.ForgetPayouts)
	a.feeds = a.payments.NewFeeds(payments.FeedConfig{Connections: a.connections, Feeds: a.db, Receipts: a.db, Balances: a.db,
		Statements: a.db, Received: a.db, Ledger: a.db.Finance(), CallAgain: a.payments.CallAgain})
	a.receivers = receivers.New(receivers.Config{
		Store: a.db, Counterparties: counterparties, Invoices: a.uma, Prices: quotePrices, Clock: systemClock{},
		IDs: idGenerator, Jobs: due, Log: log, JobRetry: a.retryPolicy(), JobMetrics: a.jobMetrics})
	a.accounting = shared.accountingWith(marketRates)
	a.treasury = shared.Treasury()
	a.receivables = shared.Receivables()
	a.platformFees = platformfees.New(platformfees.Config{Store: a.db, Ledger: a.db.Finance(), Clock: systemClock{}, IDs: idGenerator})
	a.exports = exports.New(exports.Config{Views: a.db.LedgerViews(), Store: a.db.Readers(), Clock: systemClock{},
		MaxConcurrency: a.Exports, MaxPerPlatform: a.ExportsPerPlatform, Company: a.Company()})
	a.exportFiles = exports.NewFiles(a.exports, exports.FilesConfig{Store: a.db, Files: a.files, IDs: idGenerator, Jobs: due, Log: log,
		JobMetrics: a.jobMetrics, Timeout: a.ExportTimeout, Packs: auditPacks{shared, a.databaseURL, a.databaseReadURL, a.master}})
	a.reconciliation = newReconciliation(a.db, idGenerator)
	a.wallets = wallets.New(wallets.Config{
		Store: a.db, Ledger: a.db.LedgerReader(), Custody: a.custody, Proofs: a.walletProofs,
		Mails: a.mails, Clock: systemClock{}, IDs: idGenerator})
	a.authentication = authentication.New(authentication.Config{Store: a.db, Auth: a.strongAuth, Liveness: resetChecks, Clock: systemClock{}})
	a.agents = agents.New(agents.Config{
		Store: a.db, Prices: quotePrices, Clock: systemClock{}, IDs: idGenerator})
	a.people = shared.People()
	a.jobs = shared.Jobs()
	a.requestLog = requestlogs.New(requestlogs.Config{Store: a.db, Clock: systemClock{}, IDs: idGenerator, Log: log,
		Metrics: newRequestLogMetrics(a.metrics), Bodies: requestlog.Bodies(a.RequestLogBodies)})
	a.monthEnd = shared.MonthEnd()
	a.financials = shared.Financials()
	a.years = shared.Years()
	a.journals = shared.Journals()
	a.books = shared.Books()
	a.periods = shared.Periods()
	a.proposals = shared.Proposals()
}

// run serves until ctx ends, then waits for running requests and jobs.
func (a *app) run(ctx context.Context, listener net.Listener, workers bool) error {
	a.stopping = ctx.Done()
	server, err := a.newAPI(listener.Addr())
	if err != nil {
		return err
	}
	workerCtx, stopWorkers := context.WithCancel(ports.ForAllPlatforms(context.WithoutCancel(ctx)))
	defer stopWorkers()
	if err := a.serveAdmin(workerCtx); err != nil {
		return err
	}
	a.compareCheckpoints(workerCtx)
	var running sync.WaitGroup
	context.AfterFunc(ctx, func() { a.draining.Store(true) })
	running.Go(func() { a.watchClock(workerCtx) })
	running.Go(func() { a.operations.run(workerCtx) })
	running.Go(func() { a.runTasks(workerCtx, a.processTasks()) })
	running.Go(func() { a.connections.Run(workerCtx) })
	running.Go(func() { a.requestLog.Run(workerCtx) })
	if a.ecbRates != nil {
		running.Go(func() { a.ecbRates.Run(workerCtx) })
	}
	if workers {
		running.Go(func() { a.payments.Run(workerCtx) })
		running.Go(func() { a.feeds.Run(workerCtx) })
		running.Go(func() { a.customers.Run(workerCtx) })
		running.Go(func() { a.imports.Run(workerCtx) })
		running.Go(func() { a.verifications.Run(workerCtx) })
		running.Go(func() { a.accounts.Run(workerCtx) })
		running.Go(func() { a.receivers.Run(workerCtx) })
		running.Go(func() { a.screening.Run(workerCtx) })
		running.Go(func() { a.documents.Run(workerCtx) })
		running.Go(func() { a.exportFiles.Run(workerCtx) })
		running.Go(func() { a.mailSender.Run(workerCtx) })
		running.Go(func() { a.webhooks.Run(workerCtx) })
		running.Go(func() { a.sealing.Run(workerCtx) })
		running.Go(func() { a.runTasks(workerCtx, a.maintenanceTasks()) })
		running.Go(func() { a.runTasks(workerCtx, a.railTasks()) })
		running.Go(func() { a.runTasks(workerCtx, a.proofTasks()) })
		running.Go(func() { a.runTasks(workerCtx, a.retentionTasks()) })
	}
	// Building the OpenAPI description took memory that serving does not need.
	debug.FreeOSMemory()
	setGCPercent(runGCPercent)
	err = server.Serve(ctx, listener, a.timeouts())
	stopWorkers()
	running.Wait()
	a.recordStop(context.WithoutCancel(workerCtx))
	a.connections.Close()
	a.traces.close()
	return err
}

// timeouts returns the HTTP timeouts. Shutdown may take ten seconds: the drain timeout leaves
// time for the workers and the database to stop after the last request.
func (a *app) timeouts() httpapi.Timeouts {
	t := httpapi.DefaultTimeouts
	t.Write = a.RequestTimeout + 10*time.Second
	t.Drain = 4 * time.Second
	return t
}

func (a *app) close() { a.db.Close() }
