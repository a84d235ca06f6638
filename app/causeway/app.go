package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"sync"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver that migrations run on
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/sirupsen/logrus"

	beneficiaries "causeway/adapters/beneficiaries/sandbox"
	"causeway/adapters/beneficiaries/unsupported"
	people "causeway/adapters/counterparties/sandbox"
	"causeway/adapters/encryption"
	httpapi "causeway/adapters/http"
	"causeway/adapters/http/api"
	"causeway/adapters/ids"
	"causeway/adapters/postgres"
	"causeway/adapters/postgres/outbox"
	"causeway/adapters/rails/onus"
	"causeway/adapters/rates/ecb"
	sending "causeway/adapters/webhooks"
	"causeway/app/accounting"
	"causeway/app/accounts"
	"causeway/app/audit"
	"causeway/app/customers"
	"causeway/app/exports"
	"causeway/app/payments"
	"causeway/app/platforms"
	"causeway/app/quoting"
	"causeway/app/receivers"
	"causeway/app/receiving"
	"causeway/app/reconciliation"
	"causeway/app/sandbox"
	"causeway/app/webhooks"
	"causeway/core/event"
	"causeway/core/platform"
	"causeway/migrations"
	"causeway/ports"
)

// maxBatchDelay is how long a busy group waits for company. It costs a request that much
// at most, and only under load.
const maxBatchDelay = 2 * time.Millisecond

// maxConcurrentExports is how many exports and statements one process writes at the same time:
// each holds a connection for as long as its reader takes, and most must stay for payments.
const maxConcurrentExports = 2

// app is the service, wired: the use cases on their adapters.
type app struct {
	serverFlags
	log            *logrus.Logger
	db             *postgres.DB
	metrics        *prometheus.Registry
	platforms      *platforms.Service
	idempotency    *platforms.IdempotencyStore
	customers      *customers.Service
	accounts       *accounts.Service
	payments       *payments.Service
	quotes         *quoting.QuoteService
	sandbox        *sandbox.Service
	incoming       *receiving.IncomingService
	receivers      *receivers.Service
	accounting     *accounting.Service
	reconciliation *reconciliation.Service
	periods        *accounting.Periods
	webhooks       *webhooks.Service
	sealing        *audit.Log
	exports        *exports.Service
	ecbRates       *ecb.Rates // nil unless the settings ask for it
}

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now().UTC() }

// migrate brings a database to this version's schema.
func migrate(ctx context.Context, databaseURL string) error {
	db, err := sql.Open("pgx", databaseURL)
	if err != nil {
		return fmt.Errorf("the database URL is not usable: %w", err)
	}
	defer db.Close()
	return migrations.Up(ctx, db)
}

// build wires the service to a migrated database.
func build(ctx context.Context, c serverFlags, databaseURL string, masterKey [32]byte, log *logrus.Logger) (*app, error) {
	h := &app{serverFlags: c, log: log, metrics: prometheus.NewRegistry()}
	h.metrics.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	made := ids.New()
	var err error
	h.db, err = postgres.Open(ctx, postgres.Options{
		URL: databaseURL, MaxConnections: int32(c.Connections), Clock: systemClock{}, IDs: made, Render: api.RenderEvent,
	})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(migrations.Check(ctx, h.db.SQL()), h.openWebhooks(masterKey, made), h.openSealing(masterKey, made)); err != nil {
		h.db.Close()
		return nil, err
	}
	prices, err := h.openRates(ctx)
	if err != nil {
		h.db.Close()
		return nil, err
	}
	h.wire(made, prices)
	return h, nil
}

// wire sets the use cases on their adapters.
func (h *app) wire(made *ids.Generator, prices ports.Rates) {
	log := logrus.NewEntry(h.log)
	byEnvironment := railsByEnvironment(systemClock{}, h.SandboxSpeed)
	for environment, outside := range byEnvironment {
		byEnvironment[environment] = &onus.Rail{Rail: outside, Log: log,
			Deliver: func(ctx context.Context, p ports.Payout) (ports.Outcome, bool, error) {
				return h.incoming.ReceiveInternal(ctx, p)
			}}
	}
	rails := newRailSelector(h.db, byEnvironment)
	others := ports.CounterpartiesByEnvironment{platform.Sandbox: people.New(h.SandboxUMADomain)}
	h.platforms = platforms.New(platforms.Config{Store: h.db, Clock: systemClock{}, IDs: made, Rails: byEnvironment, Committed: h.webhooks.Wake,
		SettingsChanged: func() { h.quotes.InvalidateTerms() }})
	h.idempotency = platforms.NewIdempotencyStore(h.db, systemClock{})
	h.customers = customers.New(customers.Config{Store: h.db, Clock: systemClock{}, IDs: made, Rails: byEnvironment, Jobs: h.db, Log: log})
	h.accounts = accounts.New(accounts.Config{Store: h.db, Books: h.db.LedgerReader(), Clock: systemClock{}, IDs: made, Beneficiaries: ports.BeneficiariesByEnvironment{
		platform.Sandbox: beneficiaries.Beneficiaries{}, platform.Production: unsupported.Beneficiaries{}}})
	h.payments = payments.New(payments.Config{Store: h.db, Jobs: h.db, Rails: rails, Clock: systemClock{}, IDs: made,
		Log: log, Committed: h.webhooks.Wake, MaxDelay: maxBatchDelay})
	h.quotes = quoting.NewQuoteService(quoting.QuoteConfig{Store: h.db, Market: prices, Rails: rails, Clock: systemClock{}, IDs: made,
		Execute: h.payments.Execute, Committed: h.webhooks.Wake, MaxDelay: maxBatchDelay})
	h.receivers = receivers.New(receivers.Config{Store: h.db, Counterparties: others, CurrentTerms: h.quotes.CurrentTerms, Clock: systemClock{}, IDs: made})
	h.incoming = receiving.NewIncomingService(receiving.IncomingConfig{Store: h.db, Jobs: h.db, Rails: rails, RequestApproval: h.requestApproval, TransferOut: h.payments.TransferOutWithID, Clock: systemClock{}, IDs: made,
		Counterparties: others, Log: log, Committed: h.webhooks.Wake, MaxDelay: maxBatchDelay})
	h.accounting = accounting.New(accounting.Config{Store: h.db, Ledger: h.db.Finance(), WebhookLog: outbox.NewLog(h.db.Pool()), Market: prices, Clock: systemClock{}, IDs: made,
		Committed: h.webhooks.Wake})
	h.exports = exports.New(exports.Config{Views: h.db.LedgerViews(), Store: h.db, Clock: systemClock{}, MaxConcurrency: maxConcurrentExports})
	h.reconciliation = newReconciliation(h.db, made)
	h.periods = accounting.NewPeriods(accounting.PeriodsConfig{Store: h.db, Ledger: h.db.LedgerReader(), Clock: systemClock{}, IDs: made, Committed: h.webhooks.Wake})
	h.sandbox = sandbox.New(sandbox.Config{Store: h.db, Receiver: h.payments, Depositor: h.incoming, Clock: systemClock{}, IDs: made})
}

// requestApproval sends an event as a question: at once, and once.
func (h *app) requestApproval(ctx context.Context, e event.Event) (ports.WebhookResponse, error) {
	body, err := api.RenderEvent(e)
	if err != nil {
		return ports.WebhookResponse{}, err
	}
	return h.webhooks.SendAndWait(ctx, e, body)
}

// openWebhooks wires the dispatcher, with its signing keys sealed in the database.
func (h *app) openWebhooks(masterKey [32]byte, made *ids.Generator) error {
	box, err := encryption.New(masterKey[:])
	if err != nil {
		return err
	}
	keys := sending.NewKeyring(outbox.NewKeys(h.db.Pool()), box, systemClock{}, made)
	h.webhooks = webhooks.New(webhooks.Config{
		Queue: outbox.NewQueue(h.db.Connect), Log: outbox.NewLog(h.db.Pool()), Webhooks: sending.NewSender(keys, sending.Options{}),
		Keys: keys, Clock: systemClock{}, IDs: made, Metrics: newWebhookMetrics(h.metrics, h.log), Grace: 3 * time.Second,
	})
	return nil
}

// newAPI builds the HTTP side.
func (h *app) newAPI(address net.Addr) (*httpapi.API, error) {
	proxies, err := h.trustedProxies()
	if err != nil {
		return nil, err
	}
	door := httpapi.New(httpapi.Config{
		Authenticator: platforms.NewAuthenticator(h.db), IdempotencyStore: h.idempotency, Log: h.log, Metrics: h.metrics, Ready: h.db.Ping,
		Rate:           httpapi.Rate{PerSecond: float64(h.RatePerSecond), Burst: h.RateBurst},
		RequestTimeout: h.RequestTimeout, TrustedProxies: proxies, PublicURL: h.baseURL(address), Version: version,
	})
	api.Register(door, api.Deps{Platforms: h.platforms, Customers: h.customers, ExternalAccounts: h.accounts, InternalAccounts: h.accounts,
		Quotes: h.quotes, Payments: h.payments, IncomingPayments: h.incoming, Receivers: h.receivers, Sandbox: h.sandbox, Webhooks: h.webhooks,
		Accounting: h.accounting, LedgerLog: h.sealing, Exports: h.exports, Reconciliations: h.reconciliation, Periods: h.periods})
	return door, door.Build()
}

// run serves until ctx ends, then finishes what runs and returns.
func (h *app) run(ctx context.Context, listener net.Listener, workers bool) error {
	door, err := h.newAPI(listener.Addr())
	if err != nil {
		return err
	}
	working, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWork()
	if err := h.servePprof(working); err != nil {
		return err
	}
	var all sync.WaitGroup
	if h.ecbRates != nil {
		all.Go(func() { h.ecbRates.Run(working) })
	}
	if workers {
		all.Go(func() { h.payments.Run(working) })
		all.Go(func() { h.customers.Run(working) })
		all.Go(func() { h.incoming.Run(working) })
		all.Go(func() { h.webhooks.Run(working) })
		all.Go(func() { h.sealing.Run(working) })
		all.Go(func() { h.runMaintenance(working, h.maintenanceTasks()) })
	}
	// Describing the interface took memory that serving it does not need.
	debug.FreeOSMemory()
	err = door.Serve(ctx, listener, h.timeouts())
	stopWork()
	all.Wait()
	return err
}

// timeouts leave time, of the ten seconds a stop may take, for the workers and the
// database to end after the last request.
func (h *app) timeouts() httpapi.Timeouts {
	t := httpapi.DefaultTimeouts
	t.Write = h.RequestTimeout + 10*time.Second
	t.Drain = 4 * time.Second
	return t
}

func (h *app) close() { h.db.Close() }
