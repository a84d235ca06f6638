package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/adapters/cli"
	"causeway/adapters/pgembed"
	"causeway/app/platforms"
	"causeway/core/platform"
	"causeway/ports"
)

type devCommand struct {
	serverFlags
	// Not read from DATABASE_URL: a variable that was set for something else must not make dev
	// migrate that database and create a platform in it.
	DatabaseURL     string `name:"database-url" help:"Postgres database URL. DATABASE_URL is not used. Default: the private Postgres in the data folder." placeholder:"URL" group:"Database"`
	cli.DataFlag    `group:"Database"`
	Listen          string `env:"CAUSEWAY_LISTEN" default:"127.0.0.1:8080" help:"Address and port to listen on." group:"Requests"`
	PrivateWebhooks bool   `name:"allow-private-webhooks" env:"CAUSEWAY_ALLOW_PRIVATE_WEBHOOKS" default:"true" negatable:"" help:"Let webhooks of sandbox platforms reach private and loopback addresses, and show the response to a test webhook." group:"Sandbox"`
	NoDemo          bool   `env:"CAUSEWAY_NO_DEMO" help:"Do not run the demo payment on the first start." group:"Sandbox"`
}

// Help is printed below the help of the command.
func (devCommand) Help() string {
	return "The private Postgres is in the data folder. The first start creates a sandbox platform and runs the demo payment."
}

func (d devCommand) Run(ctx context.Context, env *cli.Env) (err error) {
	d.AllowPrivateWebhooks = d.PrivateWebhooks
	if err := d.validate(); err != nil {
		return err
	}
	d.logRefused = true
	log := d.logger()
	// Before a database is made, which would be in vain.
	listener, err := listen(ctx, listenSetting, d.Listen)
	if err != nil {
		return err
	}
	defer listener.Close()
	if err := os.MkdirAll(d.Data, 0o700); err != nil {
		return fmt.Errorf("--data (CAUSEWAY_DATA): %w", err)
	}
	if os.Getenv("DATABASE_URL") != "" && d.DatabaseURL == "" {
		log.Warnf("DATABASE_URL is ignored; the private Postgres in %s is used. For another database, set --database-url", d.Data)
	}
	database, stop, stopped, err := d.database(ctx, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-stopped:
			cancel(errors.New("the private Postgres stopped; start the service again, committed data is safe"))
		case <-ctx.Done():
		}
	}()
	err = d.serve(ctx, env.Out, log, listener, database)
	if cause := context.Cause(ctx); err == nil && cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

// devDatabase is a migrated database, with the URL of its owner and that of the service.
type devDatabase struct{ ownerURL, serviceURL string }

// database returns the configured database, or starts the private Postgres of the data folder.
// stopped is closed when the private Postgres exits.
func (d devCommand) database(ctx context.Context,
	log *logrus.Logger) (database devDatabase, stop func() error, stopped <-chan struct{}, err error) {
	stop = func() error { return nil }
	if d.DatabaseURL != "" {
		return devDatabase{d.DatabaseURL, d.DatabaseURL}, stop, nil, d.migrate(ctx, log, d.DatabaseURL)
	}
	server, err := pgembed.Start(ctx, pgembed.Options{Dir: d.Data, Log: log})
	if err != nil {
		return database, nil, nil, err
	}
	stop = func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		return server.Stop(ctx)
	}
	database.ownerURL = server.URL()
	if err = d.migrate(ctx, log, database.ownerURL); err == nil {
		database.serviceURL, err = createDevLogin(ctx, server)
	}
	if err != nil {
		return database, nil, nil, errors.Join(err, stop())
	}
	return database, stop, server.Done(), nil
}

// migrate upgrades a database, and logs it unless the database was empty.
func (d devCommand) migrate(ctx context.Context, log *logrus.Logger, url string) error {
	result, err := migrate(ctx, url)
	if len(result.Applied) > 0 && result.From > 0 {
		log.WithField("from", result.From).WithField("to", result.To).Info("the database is migrated")
	}
	return err
}

func (d devCommand) serve(ctx context.Context, out io.Writer, log *logrus.Logger, listener net.Listener, database devDatabase) error {
	key, err := loadOrCreateMaster(d.Data)
	if err != nil {
		return err
	}
	if d.RatesCacheFile == "" {
		d.RatesCacheFile = filepath.Join(d.Data, "rates.xml")
	}
	if d.Checkpoints == "" {
		d.Checkpoints = filepath.Join(d.Data, "checkpoints")
	}
	d.BlobFlags = d.InFolder(d.Data)
	if d.MailFolder == "" {
		d.MailFolder = filepath.Join(d.Data, "mail")
	}
	if d.SMSFolder == "" {
		d.SMSFolder = filepath.Join(d.Data, "sms")
	}
	d.smsWritten = func(path string, m ports.SMS) { fmt.Fprintf(out, "text message: %s (%s)\n", m.Text, path) }
	d.mailWritten = func(path string, m ports.Mail) { fmt.Fprintf(out, "mail to %s: %s (%s)\n", m.To, m.Subject, path) }
	a, err := build(ctx, d.serverFlags, database.serviceURL, key, log)
	if err != nil {
		return err
	}
	defer a.close()
	saved, first, err := d.credentials(ctx, a, d.baseURL(listener.Addr()))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "causeway %s serves %s\n  API reference  %s/docs\n  credentials    %s\n", version, saved.BaseURL, saved.BaseURL,
		d.CredentialsPath())
	if d.Console {
		link, err := a.people.Developer(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "  console        %s (opens once)\n", cli.ConsoleLink(d.publicURL(listener.Addr()), link.Token))
	}
	if !first || d.NoDemo {
		fmt.Fprintf(out, "  demo payment   %s demo --data %s\n", os.Args[0], d.Data)
		return a.run(ctx, listener, true)
	}
	go func() {
		if err := runDemo(ctx, saved, database.ownerURL, out); err != nil && ctx.Err() == nil {
			log.WithError(err).Error("demo payment failed; run it again with: causeway demo")
		}
	}()
	return a.run(ctx, listener, true)
}

// credentials returns the credentials of the data folder's platform, and creates the platform
// on the first start. The second result reports whether it was created.
func (d devCommand) credentials(ctx context.Context, a *app, baseURL string) (cli.Credentials, bool, error) {
	// A reset may have been interrupted before it wrote the new platform.
	if err := d.FollowReset(ports.ForAllPlatforms(ctx), a.platforms); err != nil {
		return cli.Credentials{}, false, err
	}
	saved, err := d.Credentials()
	switch {
	case err == nil && saved.BaseURL != baseURL:
		saved.BaseURL = baseURL
		return saved, false, d.SaveCredentials(saved)
	case !errors.Is(err, os.ErrNotExist):
		return saved, false, err
	}
	created, err := a.platforms.Create(ports.ForAllPlatforms(ctx), platforms.CreateRequest{Name: "Sandbox", Environment: platform.Sandbox})
	if err != nil {
		return saved, false, err
	}
	saved = cli.CredentialsOf(created.IssuedToken, baseURL)
	return saved, true, d.SaveCredentials(saved)
}
