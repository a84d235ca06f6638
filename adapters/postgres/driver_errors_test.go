package postgres

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/DATA-DOG/go-sqlmock"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"causeway/core/corridor"
	"causeway/ports"
)

// These are errors of the connection that a real Postgres cannot be made to produce at a
// chosen statement.

var errConnectionLost = errors.New("connection lost")

// newMockDB is a database whose driver follows a script.
func newMockDB(t *testing.T) (*DB, sqlmock.Sqlmock) {
	t.Helper()
	std, mock, err := sqlmock.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		mock.ExpectClose()
		if err := std.Close(); err != nil {
			t.Error(err)
		}
		if err := mock.ExpectationsWereMet(); err != nil {
			t.Error(err)
		}
	})
	db := &DB{sql: std, bun: bun.NewDB(std, pgdialect.New())}
	db.readBun = db.bun
	return db, mock
}

// expectCorridorChange expects the statements of a change up to the override itself.
func expectCorridorChange(mock sqlmock.Sqlmock) {
	mock.ExpectBegin()
	mock.ExpectExec("SET LOCAL ROLE NONE").WillReturnResult(sqlmock.NewResult(0, 0))
	mock.ExpectExec("LOCK TABLE corridor_overrides").WillReturnResult(sqlmock.NewResult(0, 0))
	mock.ExpectQuery(`SELECT .* FROM "corridor_overrides"`).WillReturnRows(sqlmock.NewRows([]string{"source"}))
}

func changeFixedFee(ctx context.Context, db *DB) (decided int, err error) {
	err = db.ChangePricing(ctx, func(ctx context.Context, tx ports.PricingTx) error {
		if _, err := tx.CorridorOverrides(ctx); err != nil {
			return err
		}
		decided++
		return tx.SaveOverride(ctx, ports.CorridorOverride{From: "USD", To: "BTC", Terms: corridor.Override{Fixed: new(int64(7))}}, ports.CorridorAuthor{Note: "a lower fee"})
	})
	return decided, err
}

func TestChangePricing_LostCommitIsReportedOnce(t *testing.T) {
	t.Parallel()
	// A commit whose response is lost may have been made: it is an error, and it is not tried again.
	db, mock := newMockDB(t)
	expectCorridorChange(mock)
	mock.ExpectExec("set_config").WillReturnResult(sqlmock.NewResult(0, 0))
	mock.ExpectExec(`INSERT INTO "corridor_overrides"`).WillReturnResult(sqlmock.NewResult(0, 1))
	mock.ExpectCommit().WillReturnError(errConnectionLost)

	decided, err := changeFixedFee(t.Context(), db)

	if !errors.Is(err, errConnectionLost) || !strings.Contains(err.Error(), "commit") {
		t.Errorf("%v, want an error of the commit", err)
	}
	if decided != 1 {
		t.Errorf("decided %d times, want once", decided)
	}
}

func TestChangePricing_FailedRollbackKeepsBothErrors(t *testing.T) {
	t.Parallel()
	// When the rollback after a failed statement fails too, neither error hides the other.
	db, mock := newMockDB(t)
	refused := errors.New("disk full")
	expectCorridorChange(mock)
	mock.ExpectExec("set_config").WillReturnResult(sqlmock.NewResult(0, 0))
	mock.ExpectExec(`INSERT INTO "corridor_overrides"`).WillReturnError(refused)
	mock.ExpectRollback().WillReturnError(errConnectionLost)

	_, err := changeFixedFee(t.Context(), db)

	if !errors.Is(err, refused) || !errors.Is(err, errConnectionLost) {
		t.Errorf("%v, want both errors", err)
	}
}

func TestChangePricing_RefusedDecisionRollsBack(t *testing.T) {
	t.Parallel()
	// A decision that is refused writes nothing, and its error is returned as it is.
	db, mock := newMockDB(t)
	refused := errors.New("the minimum is above the maximum")
	expectCorridorChange(mock)
	mock.ExpectRollback()

	err := db.ChangePricing(t.Context(), func(ctx context.Context, tx ports.PricingTx) error {
		if _, err := tx.CorridorOverrides(ctx); err != nil {
			return err
		}
		return refused
	})

	if err != refused { //nolint:errorlint // the very error, not wrapped
		t.Errorf("%v, want %v", err, refused)
	}
}

func TestCorridorOverrides_ErrorInTheMiddleOfTheRows(t *testing.T) {
	t.Parallel()
	// A table that was read in part is not an answer: payments would be priced without
	// the overrides that are missing.
	db, mock := newMockDB(t)
	rows := sqlmock.NewRows([]string{"source", "destination", "fee_fixed"}).
		AddRow("USD", "BTC", int64(7)).AddRow("USD", "EUR", int64(9)).RowError(1, errConnectionLost)
	mock.ExpectQuery(`SELECT .* FROM "corridor_overrides"`).WillReturnRows(rows)

	found, err := db.CorridorOverrides(t.Context())

	if !errors.Is(err, errConnectionLost) || found != nil {
		t.Errorf("%+v, %v, want nothing but the error", found, err)
	}
}
