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
	"causeway/app/accounts"
	"causeway/app/customers"
	"causeway/app/exports"
	"causeway/app/finance"
	"causeway/app/payments"
	"causeway/app/periods"
	"causeway/app/platforms"
	"causeway/app/quoting"
	"causeway/app/receivers"
	"causeway/app/receiving"
	"causeway/app/reconciliation"
	"causeway/app/sandbox"
	"causeway/app/sealing"
	"causeway/app/webhooks"
	"causeway/core/event"
	"causeway/core/platform"
	"causeway/migrations"
	"causeway/ports"
)

// linger is how long a busy group waits for company. It costs a request that much
// at most, and only under load.
const linger = 2 * time.Millisecond

// exportsAtOnce is how many exports and statements one process writes at the same time:
// each holds a connection for as long as its reader takes, and most must stay for payments.
const exportsAtOnce = 2

// house is the service, wired: the use cases on their adapters.
type house struct {
	common
	log        *logrus.Logger
	db         *postgres.DB
	metrics    *prometheus.Registry
	platforms  *platforms.Platforms
	memory     *platforms.Memory
	onboarding *customers.Onboarding
	accounts   *accounts.Accounts
	payments   *payments.Service
	quoting    *quoting.QuoteService
	simulate   *sandbox.Simulate
	receiving  *receiving.IncomingService
	enquiries  *receivers.Enquiries
	finance    *finance.Service
	reconcile  *reconciliation.Service
	periods    *periods.PeriodService
	notify     *webhooks.Notify
	sealing    *sealing.LogService
	exports    *exports.Service
	reference  *ecb.Rates // nil unless the settings ask for it
}

type clock struct{}

func (clock) Now() time.Time { return time.Now().UTC() }

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
func build(ctx context.Context, c common, databaseURL string, masterKey [32]byte, log *logrus.Logger) (*house, error) {
	h := &house{common: c, log: log, metrics: prometheus.NewRegistry()}
	h.metrics.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	made := ids.New()
	var err error
	h.db, err = postgres.Open(ctx, postgres.Options{
		URL: databaseURL, MaxConnections: int32(c.Connections), Clock: clock{}, IDs: made, Render: api.RenderEvent,
	})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(migrations.Check(ctx, h.db.SQL()), h.openWebhooks(masterKey, made), h.openSealing(masterKey, made)); err != nil {
		h.db.Close()
		return nil, err
	}
	prices, err := h.market(ctx)
	if err != nil {
		h.db.Close()
		return nil, err
	}
	h.furnish(made, prices)
	return h, nil
}

// furnish sets the use cases on their adapters.
func (h *house) furnish(made *ids.Generator, prices ports.Rates) {
	log := logrus.NewEntry(h.log)
	byEnvironment := railsBy(clock{}, h.SandboxSpeed)
	for environment, outside := range byEnvironment {
		byEnvironment[environment] = &onus.Rail{Rail: outside, Log: log,
			Deliver: func(ctx context.Context, p ports.Payout) (ports.Outcome, bool, error) {
				return h.receiving.ReceiveInternal(ctx, p)
			}}
	}
	rails := newRails(h.db, byEnvironment)
	others := ports.CounterpartiesByEnvironment{platform.Sandbox: people.New(h.SandboxUMADomain)}
	h.platforms = platforms.New(platforms.Config{Store: h.db, Clock: clock{}, IDs: made, Rails: byEnvironment, Committed: h.notify.Wake,
		Changed: func() { h.quoting.InvalidateTerms() }})
	h.memory = platforms.NewMemory(h.db, clock{})
	h.onboarding = customers.New(customers.Config{Store: h.db, Clock: clock{}, IDs: made, Rails: byEnvironment, Jobs: h.db, Log: log})
	h.accounts = accounts.New(accounts.Config{Store: h.db, Books: h.db.BookReader(), Clock: clock{}, IDs: made, Beneficiaries: ports.BeneficiariesByEnvironment{
		platform.Sandbox: beneficiaries.Beneficiaries{}, platform.Production: unsupported.Beneficiaries{}}})
	h.payments = payments.New(payments.Config{Store: h.db, Jobs: h.db, Rails: rails, Clock: clock{}, IDs: made,
		Log: log, Committed: h.notify.Wake, MaxDelay: linger})
	h.quoting = quoting.NewQuoteService(quoting.QuoteConfig{Store: h.db, Market: prices, Rails: rails, Clock: clock{}, IDs: made,
		Execute: h.payments.Execute, Committed: h.notify.Wake, MaxDelay: linger})
	h.enquiries = receivers.New(receivers.Config{Store: h.db, Counterparties: others, Offer: h.quoting.CurrentTerms, Clock: clock{}, IDs: made})
	h.receiving = receiving.NewIncomingService(receiving.IncomingConfig{Store: h.db, Jobs: h.db, Rails: rails, RequestApproval: h.ask, TransferOut: h.payments.TransferOutWithID, Clock: clock{}, IDs: made,
		Counterparties: others, Log: log, Committed: h.notify.Wake, MaxDelay: linger})
	h.finance = finance.New(finance.Config{Store: h.db, Ledger: h.db.Finance(), WebhookLog: outbox.NewLog(h.db.Pool()), Market: prices, Clock: clock{}, IDs: made,
		Committed: h.notify.Wake})
	h.exports = exports.New(exports.Config{Views: h.db.BookViews(), Store: h.db, Clock: clock{}, MaxConcurrency: exportsAtOnce})
	h.reconcile = newReconciling(h.db, made)
	h.periods = periods.NewPeriodService(periods.PeriodConfig{Store: h.db, Ledger: h.db.BookReader(), Clock: clock{}, IDs: made, Committed: h.notify.Wake})
	h.simulate = sandbox.New(sandbox.Config{Store: h.db, Receiver: h.payments, Depositor: h.receiving, Clock: clock{}, IDs: made})
}

// ask sends an event as a question: at once, and once.
func (h *house) ask(ctx context.Context, e event.Event) (ports.WebhookResponse, error) {
	body, err := api.RenderEvent(e)
	if err != nil {
		return ports.WebhookResponse{}, err
	}
	return h.notify.Ask(ctx, e, body)
}

// openWebhooks wires the dispatcher, with its signing keys sealed in the database.
func (h *house) openWebhooks(masterKey [32]byte, made *ids.Generator) error {
	box, err := encryption.New(masterKey[:])
	if err != nil {
		return err
	}
	keys := sending.NewKeyring(outbox.NewKeys(h.db.Pool()), box, clock{}, made)
	h.notify = webhooks.New(webhooks.Config{
		Queue: outbox.NewQueue(h.db.Connect), Log: outbox.NewLog(h.db.Pool()), Webhooks: sending.NewSender(keys, sending.Options{}),
		Keys: keys, Clock: clock{}, IDs: made, Meter: newMeter(h.metrics, h.log), Grace: 3 * time.Second,
	})
	return nil
}

// door builds the HTTP side.
func (h *house) door(address net.Addr) (*httpapi.API, error) {
	proxies, err := h.proxies()
	if err != nil {
		return nil, err
	}
	door := httpapi.New(httpapi.Config{
		Authenticator: platforms.NewAuthenticator(h.db), IdempotencyStore: h.memory, Log: h.log, Metrics: h.metrics, Ready: h.db.Ping,
		Rate:           httpapi.Rate{PerSecond: float64(h.RatePerSecond), Burst: h.RateBurst},
		RequestTimeout: h.RequestTimeout, TrustedProxies: proxies, PublicURL: h.baseURL(address), Version: version,
	})
	api.Register(door, api.Deps{Platforms: h.platforms, Customers: h.onboarding, ExternalAccounts: h.accounts, InternalAccounts: h.accounts,
		Quotes: h.quoting, Payments: h.payments, IncomingPayments: h.receiving, Receivers: h.enquiries, Sandbox: h.simulate, Webhooks: h.notify,
		Accounting: h.finance, LedgerLog: h.sealing, Exports: h.exports, Reconciliations: h.reconcile, Periods: h.periods})
	return door, door.Build()
}

// run serves until ctx ends, then finishes what runs and returns.
func (h *house) run(ctx context.Context, listener net.Listener, workers bool) error {
	door, err := h.door(listener.Addr())
	if err != nil {
		return err
	}
	working, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWork()
	if err := h.profile(working); err != nil {
		return err
	}
	var all sync.WaitGroup
	if h.reference != nil {
		all.Go(func() { h.reference.Run(working) })
	}
	if workers {
		all.Go(func() { h.payments.Run(working) })
		all.Go(func() { h.onboarding.Run(working) })
		all.Go(func() { h.receiving.Run(working) })
		all.Go(func() { h.notify.Run(working) })
		all.Go(func() { h.sealing.Run(working) })
		all.Go(func() { h.keepHouse(working, h.chores()) })
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
func (h *house) timeouts() httpapi.Timeouts {
	t := httpapi.DefaultTimeouts
	t.Write = h.RequestTimeout + 10*time.Second
	t.Drain = 4 * time.Second
	return t
}

func (h *house) close() { h.db.Close() }
