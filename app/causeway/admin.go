package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const (
	adminSetting        = "--admin-listen (CAUSEWAY_ADMIN_LISTEN)"
	defaultAdminAddress = "127.0.0.1:8081"
)

// serveAdmin serves the endpoints of operators until ctx ends: metrics, the details of readiness and
// Go profiles. If another process has the default address, a free port is used, so that several
// processes can run on one machine without settings.
func (a *app) serveAdmin(ctx context.Context) error {
	listener, err := listen(ctx, adminSetting, a.AdminListen)
	if a.AdminListen == defaultAdminAddress && errors.Is(err, syscall.EADDRINUSE) {
		listener, err = listen(ctx, adminSetting, "127.0.0.1:0")
	}
	if err != nil {
		return err
	}
	a.log.WithField("admin", "http://"+listener.Addr().String()).Info("serving metrics, readiness and profiles to operators")
	// A processor profile takes as long as its parameter says, so responses have no deadline.
	server := &http.Server{Handler: a.adminHandler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		IdleTimeout: 2 * time.Minute}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	go func() { _ = server.Serve(listener) }() // ends with ctx
	return nil
}

func (a *app) adminHandler() *http.ServeMux {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(a.metrics, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("GET /readyz", a.serveReadiness)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}

// readiness is the body of the readiness of a process for operators.
type readiness struct {
	Ready    bool                  `json:"ready"`
	Draining bool                  `json:"draining"` // shutting down
	Version  string                `json:"version"`
	Checks   map[string]checkState `json:"checks"`
}

type checkState struct {
	OK      bool    `json:"ok"`
	Error   string  `json:"error,omitempty"`
	Seconds float64 `json:"seconds"` // that the check took, or by which the clock is ahead
}

func (a *app) serveReadiness(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	body := readiness{Ready: true, Draining: a.draining.Load(), Version: version, Checks: map[string]checkState{}}
	check := func(name string, seconds float64, err error) {
		state := checkState{OK: err == nil, Seconds: seconds}
		if err != nil {
			state.Error, body.Ready = err.Error(), false
		}
		body.Checks[name] = state
	}
	began := time.Now()
	err := a.db.Ping(ctx)
	check("database", time.Since(began).Seconds(), err)
	check("clock", a.db.ClockOffset().Seconds(), a.db.CheckClock())
	body.Ready = body.Ready && !body.Draining
	w.Header().Set("Content-Type", "application/json")
	if !body.Ready {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(body) // the client may have disconnected
}

// checkAdmin reports an invalid address with the name of its setting.
func (c serverFlags) checkAdmin(refuse func(setting, must string, got any)) {
	if _, _, err := net.SplitHostPort(c.AdminListen); err != nil {
		refuse(adminSetting, fmt.Sprintf("an address and a port such as %s", defaultAdminAddress), c.AdminListen)
	}
}
