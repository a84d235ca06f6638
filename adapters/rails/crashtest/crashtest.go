// Package crashtest ends the process of a connector at one of its effects, in tests.
package crashtest

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"causeway/adapters/postgres/storage"
)

// Process lets its first effects happen and no later one.
type Process struct {
	mu      sync.Mutex
	left    int
	crashed bool
}

// New returns a process that has some effects before it crashes.
func New(effects int) *Process { return &Process{left: effects} }

// Crashed reports whether the process has crashed.
func (p *Process) Crashed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.crashed
}

func (p *Process) effect() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left--; p.left < 0 {
		p.crashed = true
	}
	return !p.crashed
}

// Gate decides about the calls of a node, of which some are effects.
func (p *Process) Gate(isEffect func(call string) bool) func(call string) (fails, lost bool) {
	return func(call string) (fails, lost bool) {
		if isEffect(call) {
			return !p.effect(), false
		}
		return p.Crashed(), false
	}
}

var errCrash = errors.New("the process has crashed")

// Pool returns the database as the process has it. What it writes is an effect: a transaction, or a statement of its own.
func (p *Process) Pool(pool storage.Pool) storage.Pool { return crashPool{pool, p} }

type crashPool struct {
	storage.Pool
	*Process
}

func (p crashPool) Begin(ctx context.Context) (pgx.Tx, error) {
	if !p.effect() {
		return nil, errCrash
	}
	return p.Pool.Begin(ctx)
}

func (p crashPool) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	if !p.effect() {
		return pgconn.CommandTag{}, errCrash
	}
	return p.Pool.Exec(ctx, sql, args...)
}

func (p crashPool) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if strings.HasPrefix(strings.TrimSpace(sql), "INSERT") && !p.effect() {
		return nil, errCrash
	}
	return p.Pool.Query(ctx, sql, args...)
}
