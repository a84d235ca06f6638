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

// rig is everything that runs during the measurement: a private Postgres set as
// `causeway dev` sets it, the service on it, and the platform's webhook endpoint.
type rig struct {
	folder   string // of the run; removed at the end
	postgres *pgembed.Server
	service  *process
	pprof    string // address of the service's profiles, when they are wanted
	platform string
	target   target
	settings []string // the service's environment
	receiver *receiver
	meter    *meter
	idle     int64 // memory of the service before any request, in bytes
}

// settings are the service's own, as far as they are not left as they come: the
// rate limit would measure itself.
func settings(databaseURL, address, pprof string) []string {
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

// settle is how long the service is left alone before its memory at rest is read.
const settle = 3 * time.Second

// raise brings it all up. What is up when it fails is for the caller to take down.
func (r *rig) raise(ctx context.Context, o options) error {
	if err := r.found(ctx, o); err != nil {
		return err
	}
	return r.serve(ctx, o)
}

// found brings up Postgres, with the schema and a platform, and no service yet.
func (r *rig) found(ctx context.Context, o options) error {
	var extra map[string]string
	if o.profile != "" {
		extra = profiling
	}
	var err error
	if r.postgres, err = pgembed.Start(ctx, pgembed.Options{Dir: filepath.Join(r.folder, "data"), Settings: extra}); err != nil {
		return err
	}
	address, err := freeAddress()
	if err != nil {
		return err
	}
	if o.profile != "" {
		if r.pprof, err = freeAddress(); err != nil {
			return err
		}
	}
	r.settings = settings(r.postgres.URL(), address, r.pprof)
	made, err := founded(ctx, o, r.settings)
	r.platform, r.target = made.PlatformID, newTarget(address, made.ClientID, made.ClientSecret)
	return err
}

// credentials are what the service prints of a platform that it has made.
type credentials struct{ PlatformID, ClientID, ClientSecret string }

// founded brings a database up to the schema and makes a platform in it.
func founded(ctx context.Context, o options, set []string) (made credentials, err error) {
	if _, err := output(ctx, set, o.binary, "migrate"); err != nil {
		return made, err
	}
	said, err := output(ctx, set, o.binary, "platform", "create", "--name", "Bench", "--environment", "SANDBOX")
	if err != nil {
		return made, err
	}
	if err := json.Unmarshal([]byte(said), &made); err != nil {
		return made, fmt.Errorf("read the credentials that platform create printed: %w", err)
	}
	return made, nil
}

// serve brings up the service, and what looks at it.
func (r *rig) serve(ctx context.Context, o options) (err error) {
	if r.service, err = start("causeway serve", filepath.Join(r.folder, "service.log"), r.settings, o.binary, "serve"); err != nil {
		return err
	}
	if err := r.service.awaitReady(ctx, r.target.address); err != nil {
		return err
	}
	if r.meter, err = newMeter(ctx, r.postgres.SuperuserURL(), r.postgres.URL(), r.service.pid()); err != nil {
		return err
	}
	if err := rest(ctx, settle); err != nil {
		return err
	}
	if r.idle, err = memory(r.service.pid(), "VmRSS"); err != nil {
		return err
	}
	r.receiver, err = listen()
	return err
}

// lower takes everything down, in the order that lets each finish, and removes the
// folder.
func (r *rig) lower() error {
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
		ctx, cancel := context.WithTimeout(context.Background(), graceful)
		defer cancel()
		failed = append(failed, r.postgres.Stop(ctx))
	}
	return errors.Join(append(failed, os.RemoveAll(r.folder))...)
}

// makeYardstick makes a database for pgbench beside the service's.
func (r *rig) makeYardstick(ctx context.Context) (yardstick, error) {
	url, err := r.makeDatabase(ctx, yardstickDatabase)
	if err != nil {
		return yardstick{}, err
	}
	return newYardstick(ctx, url)
}

// makeDatabase makes a database beside the service's, of the same owner and behind the
// same socket.
func (r *rig) makeDatabase(ctx context.Context, name string) (string, error) {
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

// rest does nothing for a while.
func rest(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
