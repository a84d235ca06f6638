package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/adapters/cli"
	"causeway/adapters/cli/table"
	"causeway/adapters/postgres"
	"causeway/ports"
)

type serveCommand struct {
	serverFlags
	DatabaseURL     string `name:"database-url" env:"DATABASE_URL" secret:"" required:"" help:"Postgres database URL, with a login that is a member of causeway_service and does not own the tables. Run causeway migrate as the owner first." placeholder:"URL" group:"Database"`
	ReadURL         string `name:"database-read-url" env:"DATABASE_READ_URL" secret:"" help:"Postgres URL of a standby, for lists, reports, exports and proofs, with the user and the database of --database-url. While it is down or behind, they use that one." placeholder:"URL" group:"Database"`
	Listen          string `env:"CAUSEWAY_LISTEN" default:"127.0.0.1:8080" help:"Address and port to listen on." group:"Requests"`
	MasterKey       string `name:"master-key" env:"CAUSEWAY_MASTER_KEY" secret:"" required:"" help:"32 random bytes in base64 that encrypt the stored private keys, or vault: and the address of a key in Vault, such as vault:https://vault.example.com:8200/transit/causeway. The same for every process." placeholder:"KEY" group:"Encryption"`
	cli.VaultFlag   `group:"Encryption"`
	PrivateWebhooks bool `name:"allow-private-webhooks" env:"CAUSEWAY_ALLOW_PRIVATE_WEBHOOKS" help:"Let webhooks of sandbox platforms reach private and loopback addresses, and show the response to a test webhook." group:"Sandbox"`
	AllowOwner      bool `name:"allow-owner-login" env:"CAUSEWAY_ALLOW_OWNER_LOGIN" help:"Start even if the database login owns the tables or is a superuser. The ledger is then not protected against the service itself." group:"Database"`
	NoWorkers       bool `env:"CAUSEWAY_NO_WORKERS" help:"Serve the API only; other processes run the jobs." group:"Jobs and rails"`
}

// Help is printed below the help of the command.
func (serveCommand) Help() string { return "Any number of processes can share one database." }

func (s serveCommand) Run(ctx context.Context, _ *cli.Env) error {
	s.AllowPrivateWebhooks, s.databaseReadURL = s.PrivateWebhooks, s.ReadURL
	key, err := newMaster(s.MasterKey, s.VaultToken)
	if err := errors.Join(err, s.validate()); err != nil {
		return err
	}
	log := s.logger()
	listener, err := listen(ctx, listenSetting, s.Listen)
	if err != nil {
		return err
	}
	defer listener.Close()
	a, err := build(ctx, s.serverFlags, s.DatabaseURL, key, log)
	if err != nil {
		return err
	}
	defer a.close()
	if err := checkLogin(ctx, a.db); err != nil {
		if !s.AllowOwner {
			return err
		}
		log.Warn("the database login may change the ledger; " + allowOwnerSetting + " is set")
	}
	log.WithField("address", a.baseURL(listener.Addr())).Info("serving")
	if s.Blobs == "" {
		log.Warn("documents of customers are not accepted, and the console exports nothing, because no place for files is configured; set " +
			"CAUSEWAY_BLOBS")
	}
	if s.SMTPURL == "" && s.MailFolder == "" {
		log.Warn("one-time codes by e-mail to customers of production platforms are not available, because no mail server is configured; set " +
			"CAUSEWAY_SMTP_URL")
	}
	if s.SMSURL == "" && s.SMSFolder == "" {
		log.Warn("codes for the phones of customers of production platforms are not available, because no provider is configured; set " +
			"CAUSEWAY_SMS_URL")
	}
	if s.Checkpoints == "" && !s.NoWorkers {
		log.Warn("ledger log checkpoints are stored in the database only, which cannot prove that no posting was removed; set " +
			"CAUSEWAY_CHECKPOINTS")
	}
	warnOfTokens(ctx, a.db, log)
	return a.run(ctx, listener, !s.NoWorkers)
}

// warnOfTokens says that what some tokens propose could be approved by the person who uses them.
func warnOfTokens(ctx context.Context, db *postgres.DB, log *logrus.Logger) {
	count, err := db.TokensOfNobody(ports.ForAllPlatforms(ctx))
	if err != nil && ctx.Err() == nil {
		log.WithError(err).Warn("cannot see whether nobody answers for some tokens")
	}
	if err == nil && count > 0 {
		log.WithField("tokens", count).Warn("nobody answers for some tokens of production platforms with four eyes, so that a person who uses " +
			"one could approve what it proposes; see causeway token list, and name persons with causeway token set-responsible")
	}
}

const listenSetting = "--listen (CAUSEWAY_LISTEN)"

// listen opens a port. Its error names the setting.
func listen(ctx context.Context, setting, address string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s: cannot listen on %s: %w; stop the program that uses the port, or specify another one", setting, address, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: cannot listen on %s: %w", setting, address, err)
	}
	return listener, nil
}

type migrateCommand struct {
	DatabaseURL string       `name:"database-url" env:"DATABASE_URL" secret:"" required:"" help:"Postgres database URL, as a role that owns the database." placeholder:"URL"`
	Plan        bool         `help:"List what would be applied, and whether the processes of the previous version have to be stopped before. Nothing is changed."`
	Output      table.Format `default:"table" enum:"table,csv,json" help:"table, or csv or json for programs."`
}

// Run prints each file that it applied, also if a later one failed.
func (m migrateCommand) Run(ctx context.Context, env *cli.Env) error {
	if m.Plan {
		return m.plan(ctx, env)
	}
	result, failed := migrate(ctx, m.DatabaseURL)
	rows := table.New("applied", ">duration")
	for _, f := range result.Applied {
		rows.Add(f.Name, f.Duration.Round(time.Millisecond))
	}
	var page table.Page
	page.Table("", rows, "")
	switch {
	case failed != nil:
	case len(result.Applied) == 0:
		page.Line("Nothing to do: the database has version %d, that of this program.", result.To)
	default:
		page.Line("The database is migrated from version %d to %d.", result.From, result.To)
	}
	return errors.Join(failed, page.Write(env.Out, m.Output))
}

func (m migrateCommand) plan(ctx context.Context, env *cli.Env) error {
	pending, err := migrationPlan(ctx, m.DatabaseURL)
	if err != nil {
		return err
	}
	rows, stop := table.New("pending", "previous version"), false
	for _, p := range pending {
		previous := "runs beside it"
		if p.Stop != "" {
			previous, stop = "must be stopped: "+p.Stop, true
		}
		rows.Add(p.Name, previous)
	}
	var page table.Page
	page.Table("", rows, "Nothing to do: the database has the version of this program.")
	switch {
	case stop:
		page.Line("Stop every process of the previous version, run causeway migrate, and start the new version.")
	case len(pending) > 0:
		page.Line("Run causeway migrate while the previous version serves, then replace its processes one by one.")
	}
	return page.Write(env.Out, m.Output)
}
