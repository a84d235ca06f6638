package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/adapters/pgembed"
	"causeway/app/platforms"
	"causeway/core/platform"
)

type devCommand struct {
	serverFlags
	databaseFlags
	Listen string `env:"CAUSEWAY_LISTEN" default:"127.0.0.1:8080" help:"Address and port to listen on."`
	NoDemo bool   `env:"CAUSEWAY_NO_DEMO" help:"Do not play a payment on the first start."`
}

func (d devCommand) Run(ctx context.Context, out io.Writer) (err error) {
	if err := d.validate(); err != nil {
		return err
	}
	log := d.logger()
	if err := os.MkdirAll(d.Data, 0o700); err != nil {
		return fmt.Errorf("--data (CAUSEWAY_DATA): %w", err)
	}
	url, stop, died, err := d.database(ctx, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	listener, err := listen(ctx, listenSetting, d.Listen)
	if err != nil {
		return err
	}
	defer listener.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-died:
			cancel(errors.New("the private Postgres has ended; start again, nothing committed is lost"))
		case <-ctx.Done():
		}
	}()
	err = d.serve(ctx, out, log, listener, url)
	if cause := context.Cause(ctx); err == nil && cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

// database is the one named, or the private one of the data folder, migrated.
func (d devCommand) database(ctx context.Context, log *logrus.Logger) (url string, stop func() error, died <-chan struct{}, err error) {
	stop = func() error { return nil }
	if url = d.DatabaseURL; url == "" {
		server, err := pgembed.Start(ctx, pgembed.Options{Dir: d.Data, Log: log})
		if err != nil {
			return "", nil, nil, err
		}
		url, died = server.URL(), server.Done()
		stop = func() error {
			ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
			defer cancel()
			return server.Stop(ctx)
		}
	}
	if err := migrate(ctx, url); err != nil {
		return "", nil, nil, errors.Join(err, stop())
	}
	return url, stop, died, nil
}

func (d devCommand) serve(ctx context.Context, out io.Writer, log *logrus.Logger, listener net.Listener, url string) error {
	key, err := loadOrCreateMasterKey(d.Data)
	if err != nil {
		return err
	}
	if d.RatesCacheFile == "" {
		d.RatesCacheFile = filepath.Join(d.Data, "rates.xml")
	}
	if d.Heads == "" {
		d.Heads = filepath.Join(d.Data, "heads")
	}
	h, err := build(ctx, d.serverFlags, url, key, log)
	if err != nil {
		return err
	}
	defer h.close()
	mine, first, err := d.credentials(ctx, h, d.baseURL(listener.Addr()))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "causeway %s serves %s\n  reference   %s/docs\n  credentials %s\n", version, mine.BaseURL, mine.BaseURL, d.credentialsPath())
	if first && !d.NoDemo {
		go func() {
			if err := runDemo(ctx, mine, url, out); err != nil && ctx.Err() == nil {
				log.WithError(err).Error("the demo did not finish; play it again with: causeway demo")
			}
		}()
	}
	return h.run(ctx, listener, true)
}

func (d devCommand) credentialsPath() string { return filepath.Join(d.Data, "credentials.json") }

// credentials are those of the folder's platform. On the first start it is made.
func (d devCommand) credentials(ctx context.Context, h *app, baseURL string) (credentials, bool, error) {
	var mine credentials
	text, err := os.ReadFile(d.credentialsPath())
	switch {
	case err == nil:
		if err := json.Unmarshal(text, &mine); err != nil {
			return mine, false, fmt.Errorf("%s is damaged (%w); move it away to get a new platform", d.credentialsPath(), err)
		}
		if mine.BaseURL == baseURL {
			return mine, false, nil
		}
		mine.BaseURL = baseURL
		return mine, false, d.saveCredentials(mine)
	case !errors.Is(err, os.ErrNotExist):
		return mine, false, err
	}
	founded, err := h.platforms.Create(ctx, platforms.CreateRequest{Name: "Sandbox", Environment: platform.Sandbox, Regulated: true})
	if err != nil {
		return mine, false, err
	}
	mine = credentialsOf(founded, baseURL)
	return mine, true, d.saveCredentials(mine)
}

func (d devCommand) saveCredentials(mine credentials) error {
	text, err := json.MarshalIndent(mine, "", "  ")
	if err != nil {
		return err
	}
	return writePrivateFile(d.credentialsPath(), append(text, '\n'))
}
