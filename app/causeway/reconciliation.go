package main

import (
	"context"
	"io"
	"os"
	"runtime/debug"
	"sync"

	"causeway/adapters/postgres"
	"causeway/app/reconciliation"
	"causeway/ports"
)

// reconciliations are the use cases, with imports that need less memory.
type reconciliations struct {
	*reconciliation.Service
	collector importCollector
}

func newReconciliation(db *postgres.DB, idGenerator ports.IDs) *reconciliations {
	return &reconciliations{Service: reconciliation.New(reconciliation.Config{
		Store: db, Runs: db, Ledger: db.LedgerReader(),
		Accounts: db.Finance(),
		Clock:    systemClock{}, IDs: idGenerator})}
}

// Import imports a file. If it is large, garbage is collected more often until it is imported.
func (r *reconciliations) Import(ctx context.Context, in reconciliation.ImportRequest, request *ports.IdempotentRequest) (
	reconciliation.ImportResult, error) {
	file := &largeFile{source: in.File, onLarge: r.collector.begin}
	defer func() {
		if file.isLarge {
			r.collector.end()
		}
	}()
	in.File = file
	return r.Service.Import(ctx, in, request)
}

// importCollector makes the garbage collector run more often while large files are imported: the heap
// has all lines of the file then, and twice as much would wait to be collected. It costs two seconds of
// processor time for 100,000 lines.
type importCollector struct {
	mu      sync.Mutex
	imports int
	percent int // before the first import
}

// importGCPercent is the growth of the heap between two collections while a large file is imported.
const importGCPercent = 20

func (c *importCollector) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.imports++; c.imports == 1 && os.Getenv("GOGC") == "" {
		c.percent = debug.SetGCPercent(importGCPercent)
		debug.FreeOSMemory() // of what was done before
	}
}

func (c *importCollector) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.imports--; c.imports == 0 && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(c.percent)
	}
}

// largeFileBytes is the size from which a file is large: some 10,000 lines of CSV.
const largeFileBytes = 1 << 20

// largeFile calls onLarge once so much of a file is read that it is large.
type largeFile struct {
	source  io.Reader
	onLarge func()
	read    int
	isLarge bool
}

func (f *largeFile) Read(p []byte) (int, error) {
	n, err := f.source.Read(p)
	if f.read += n; f.read > largeFileBytes && !f.isLarge {
		f.isLarge = true
		f.onLarge()
	}
	return n, err
}
