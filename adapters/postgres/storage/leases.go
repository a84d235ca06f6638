package storage

import (
	"context"
	"fmt"
	"time"

	"causeway/ports"
)

// LeasedTable is a table of which each row belongs to one process at a time. Its key is connection; it has the columns holder
// (the process), leased_until, and one of the fence.
type LeasedTable struct {
	Name string
	// Fence is the column of the fence.
	Fence string
	// CreatedAt is a column of the time at which a row is made; empty if there is none.
	CreatedAt string
	// RetryAt is a column of the time before which the row is not to be taken; empty if there is none.
	RetryAt string
	// Read are columns that are read when the row is taken; empty for none.
	Read string
}

// Leases are the leases on the rows of a table. Each method is one atomic step; those with a lease return ports.ErrLeaseLost,
// and change nothing, if another process has taken it over.
type Leases struct {
	db    *DB
	table LeasedTable
	take  string
}

// Leases returns the leases on the rows of a table.
func (db *DB) Leases(t LeasedTable) *Leases {
	now := Time(3)
	created, at, condition, read := "", "", "", ""
	if t.CreatedAt != "" {
		created, at = ", "+t.CreatedAt, ", "+now
	}
	if t.RetryAt != "" {
		condition = fmt.Sprintf(" AND (t.%[1]s IS NULL OR t.%[1]s <= %[2]s)", t.RetryAt, now)
	}
	if t.Read != "" {
		read = ", " + t.Read
	}
	return &Leases{db, t, fmt.Sprintf(`
		INSERT INTO %[1]s AS t (connection, %[2]s, holder, leased_until%[3]s) VALUES ($1, 1, $2, %[4]s + $4::interval%[5]s)
		ON CONFLICT (connection) DO UPDATE SET %[2]s = t.%[2]s + 1, holder = excluded.holder, leased_until = excluded.leased_until
		WHERE t.leased_until <= %[4]s%[6]s
		RETURNING %[2]s%[7]s`, t.Name, t.Fence, created, now, at, condition, read)}
}

// Take takes a lease that has ended, and reads columns of its row. It returns false if another process holds it, or its row is not
// to be taken yet. The first call for a name makes the row. It uses the primary key.
func (l *Leases) Take(ctx context.Context, name string, length time.Duration, read ...any) (ports.Lease, bool, error) {
	lease := ports.Lease{Name: name}
	taken, err := ReadRow(ctx, l.db.Read, l.take, []any{name, l.db.process, l.db.Now(), length}, append([]any{&lease.Fence}, read...)...)
	return lease, taken, err
}

// Renew extends a lease, also one that has ended and that nobody has taken.
func (l *Leases) Renew(ctx context.Context, lease ports.Lease, length time.Duration) error {
	return l.Update(ctx, lease, `leased_until = `+Time(3)+` + $4::interval`, l.db.Now(), length)
}

// Release ends a lease.
func (l *Leases) Release(ctx context.Context, lease ports.Lease) error {
	return l.Update(ctx, lease, `leased_until = '-infinity'`)
}

// Update changes columns of the row of a lease. The first argument is $3. It uses the primary key.
func (l *Leases) Update(ctx context.Context, lease ports.Lease, set string, args ...any) error {
	changed, err := l.db.Exec(ctx, `UPDATE `+l.table.Name+` SET `+set+` WHERE connection = $1 AND `+l.table.Fence+` = $2`,
		append([]any{lease.Name, lease.Fence}, args...)...)
	if err == nil && changed == 0 {
		return ports.ErrLeaseLost
	}
	return err
}

// Hold runs a change in a transaction that holds the row of a lease.
func (l *Leases) Hold(ctx context.Context, lease ports.Lease, change func(tx Tx) error) error {
	return l.db.InTx(ctx, func(tx Tx) error {
		if err := l.Lock(ctx, tx, lease, l.table.Fence, &lease.Fence); err != nil {
			return err
		}
		return change(tx)
	})
}

// Lock locks the row of a lease until a transaction ends, and reads columns of it. It uses the primary key.
func (l *Leases) Lock(ctx context.Context, tx Tx, lease ports.Lease, columns string, read ...any) error {
	held, err := ReadRow(ctx, tx.Read, `SELECT `+columns+` FROM `+l.table.Name+` WHERE connection = $1 AND `+l.table.Fence+` = $2 FOR UPDATE`,
		[]any{lease.Name, lease.Fence}, read...)
	if err == nil && !held {
		return ports.ErrLeaseLost
	}
	return err
}
