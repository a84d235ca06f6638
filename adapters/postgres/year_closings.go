package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/ledgerdb"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/yearend"
	"causeway/ledger"
)

// YearClosings implements accounting.Store.
func (db *DB) YearClosings(ctx context.Context, p ident.Platform) ([]yearend.Closing, error) {
	return ledgerdb.YearClosings(ctx, db.readPool, p)
}

// YearClosings implements accounting.Tx.
func (u *Unit) YearClosings(ctx context.Context, p ident.Platform) ([]yearend.Closing, error) {
	return ledgerdb.YearClosings(ctx, batchedQuerier{u: u}, p)
}

// ResultBalances implements accounting.Tx.
func (u *Unit) ResultBalances(ctx context.Context, p ident.Platform, m period.Month) (balances []ledger.NetBalance, seq int64, err error) {
	for _, setting := range bulkReadSettings {
		u.queueExec(setting)
	}
	err = u.query(ctx, `SELECT seq FROM ledger_clocks WHERE platform_id = $1`, []any{p}, func(rows pgx.Rows) error { return rows.Scan(&seq) })
	if err != nil {
		return nil, 0, err
	}
	err = u.query(ctx, ledgerdb.SelectResultBalances, ledgerdb.ResultBalancesArgs(p, m.Start(), seq), func(rows pgx.Rows) error {
		balance, err := ledgerdb.ScanResultBalance(rows)
		balances = append(balances, balance)
		return err
	})
	return balances, seq, err
}

var (
	insertYearClosing  = ledgerdb.YearClosingTable.Insert("")
	insertYearResults  = ledgerdb.YearResultTable.InsertAll("")
	insertYearReversal = ledgerdb.YearReversalTable.Insert("")
)

// SaveYearClosing implements yearend.Tx.
func (u *Unit) SaveYearClosing(ctx context.Context, c yearend.Closing) error {
	if err := write(ctx, u, insertYearClosing, c); err != nil {
		return err
	}
	results := make([]ledgerdb.YearResult, len(c.Results))
	for i, r := range c.Results {
		results[i] = ledgerdb.YearResult{Platform: c.Platform, Year: c.Year, Number: c.Number, Result: r}
	}
	return writeAll(ctx, u, insertYearResults, results)
}

// SaveYearReversal implements yearend.Tx.
func (u *Unit) SaveYearReversal(ctx context.Context, c yearend.Closing, r yearend.Reversal) error {
	return write(ctx, u, insertYearReversal, ledgerdb.YearReversal{Platform: c.Platform, Year: c.Year, Number: c.Number, Reversal: r})
}
