package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/pgembed"
)

// benchEnv is everything that runs during the measurement: a private Postgres set as
// `causeway dev` sets it, the service on it, and the platform's webhook endpoint.
type benchEnv struct {
	folder       string // of the run; removed at the end
	postgres     *pgembed.Server
	service      *process
	pprofAddress string // address of the service's profiles, when they are wanted
	platformID   string
	target       target
	settings     []string // the service's environment
	receiver     *receiver
	meter        *meter
	idleMemory   int64 // memory of the service before any request, in bytes
}

// serviceSettings are the service's own, as far as they are not left as they come: the
// rate limit would measure itself.
func serviceSettings(databaseURL, address, pprof string) []string {
	var key [32]byte
	_, _ = rand.Read(key[:]) // never fails
	set := []string{
		"DATABASE_URL=" + databaseURL, "CAUSEWAY_LISTEN=" + address,
		"CAUSEWAY_MASTER_KEY=" + base64.StdEncoding.EncodeToString(key[:]),
		"CAUSEWAY_RATE_LIMIT=1000000", "CAUSEWAY_RATE_BURST=1000000",
	}
	if pprof != "" {
		set = append(set, "CAUSEWAY_PPROF="+pprof)
	}
	return set
}

// idleWait is how long the service is left alone before its memory at rest is read.
const idleWait = 3 * time.Second

// start brings it all up. What is up when it fails is for the caller to take down.
func (r *benchEnv) start(ctx context.Context, o options) error {
	if err := r.startDatabase(ctx, o); err != nil {
		return err
	}
	return r.startService(ctx, o)
}

// startDatabase brings up Postgres, with the schema and a platform, and no service yet.
func (r *benchEnv) startDatabase(ctx context.Context, o options) error {
	var extra map[string]string
	if o.profileDir != "" {
		extra = profilingSettings
	}
	var err error
	if r.postgres, err = pgembed.Start(ctx, pgembed.Options{Dir: filepath.Join(r.folder, "data"), Settings: extra}); err != nil {
		return err
	}
	address, err := freeAddress()
	if err != nil {
		return err
	}
	if o.profileDir != "" {
		if r.pprofAddress, err = freeAddress(); err != nil {
			return err
		}
	}
	r.settings = serviceSettings(r.postgres.URL(), address, r.pprofAddress)
	made, err := createPlatform(ctx, o, r.settings)
	r.platformID, r.target = made.PlatformID, newTarget(address, made.ClientID, made.ClientSecret)
	return err
}

// credentials are what the service prints of a platform that it has made.
type credentials struct{ PlatformID, ClientID, ClientSecret string }

// createPlatform brings a database up to the schema and makes a platform in it.
func createPlatform(ctx context.Context, o options, set []string) (made credentials, err error) {
	if _, err := runCommand(ctx, set, o.binary, "migrate"); err != nil {
		return made, err
	}
	said, err := runCommand(ctx, set, o.binary, "platform", "create", "--name", "Bench", "--environment", "SANDBOX")
	if err != nil {
		return made, err
	}
	if err := json.Unmarshal([]byte(said), &made); err != nil {
		return made, fmt.Errorf("read the credentials that platform create printed: %w", err)
	}
	return made, nil
}

// startService brings up the service, and what looks at it.
func (r *benchEnv) startService(ctx context.Context, o options) (err error) {
	if r.service, err = startProcess("causeway serve", filepath.Join(r.folder, "service.log"), r.settings, o.binary, "serve"); err != nil {
		return err
	}
	if err := r.service.awaitReady(ctx, r.target.address); err != nil {
		return err
	}
	if r.meter, err = newMeter(ctx, r.postgres.SuperuserURL(), r.postgres.URL(), r.service.pid()); err != nil {
		return err
	}
	if err := sleep(ctx, idleWait); err != nil {
		return err
	}
	if r.idleMemory, err = memory(r.service.pid(), "VmRSS"); err != nil {
		return err
	}
	r.receiver, err = startReceiver()
	return err
}

// stop takes everything down, in the order that lets each finish, and removes the
// folder.
func (r *benchEnv) stop() error {
	var failed []error
	if r.service != nil {
		failed = append(failed, r.service.stop())
	}
	if r.receiver != nil {
		r.receiver.close()
	}
	if r.meter != nil {
		r.meter.close()
	}
	if r.postgres != nil {
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		failed = append(failed, r.postgres.Stop(ctx))
	}
	return errors.Join(append(failed, os.RemoveAll(r.folder))...)
}

// setUpPgbench makes a database for pgbench beside the service's.
func (r *benchEnv) setUpPgbench(ctx context.Context) (pgbench, error) {
	url, err := r.createDatabase(ctx, pgbenchDatabase)
	if err != nil {
		return pgbench{}, err
	}
	return newPgbench(ctx, url)
}

// createDatabase makes a database beside the service's, of the same owner and behind the
// same socket.
func (r *benchEnv) createDatabase(ctx context.Context, name string) (string, error) {
	service, err := url.Parse(r.postgres.URL())
	if err != nil {
		return "", err
	}
	conn, err := pgx.Connect(ctx, r.postgres.SuperuserURL())
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	owner := pgx.Identifier{service.User.Username()}.Sanitize()
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize()+" OWNER "+owner); err != nil {
		return "", err
	}
	service.Path = "/" + name
	return service.String(), nil
}

// sleep does nothing for a while.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
