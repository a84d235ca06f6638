package main

import (
	"context"
	"net/http"
	"net/http/pprof"
	"time"
)

// servePprof serves Go profiles on a separate address until ctx ends.
func (a *app) servePprof(ctx context.Context) error {
	if a.Pprof == "" {
		return nil
	}
	listener, err := listen(ctx, "--pprof (CAUSEWAY_PPROF)", a.Pprof)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	go func() { _ = server.Serve(listener) }() // ends with ctx
	return nil
}
