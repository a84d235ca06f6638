package lightning_test

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"causeway/adapters/postgres/storage"
)

// crash lets the first effects happen and no later one.
type crash struct {
	mu      sync.Mutex
	left    int
	crashed bool
}

var errCrash = errors.New("the process has crashed")

func (c *crash) effect() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left--; c.left < 0 {
		c.crashed = true
	}
	return !c.crashed
}

func (c *crash) gate(call string) (fails, lost bool) {
	if pays(call) {
		return !c.effect(), false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.crashed, false
}

// crashPool is the database as a process has it that crashes. What it writes is an effect: a transaction, or a statement of its own.
type crashPool struct {
	storage.Pool
	*crash
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
