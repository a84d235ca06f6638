package main

import (
	"context"
	"net/http"
	"net/http/pprof"
	"time"
)

// servePprof serves Go's own profiles on an address of their own until ctx ends.
func (h *app) servePprof(ctx context.Context) error {
	if h.Pprof == "" {
		return nil
	}
	listener, err := listen(ctx, "--pprof (CAUSEWAY_PPROF)", h.Pprof)
	if err != nil {
		return err
	}
	pages := http.NewServeMux()
	pages.HandleFunc("/debug/pprof/", pprof.Index)
	pages.HandleFunc("/debug/pprof/profile", pprof.Profile)
	pages.HandleFunc("/debug/pprof/trace", pprof.Trace)
	server := &http.Server{Handler: pages, ReadHeaderTimeout: 5 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	go func() { _ = server.Serve(listener) }() // ends with ctx
	return nil
}
