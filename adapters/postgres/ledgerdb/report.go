package ledgerdb

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"causeway/core/money"
)

// beginReadOnly opens a transaction in which everything is of one moment. Rows are still
// looked up by their keys: a report reads little of each of many accounts, and the
// planner, which cannot know how little, would read everything.
const beginReadOnly = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL jit = off`

// beginReadOnlyCustomPlan has statements that are put together for a question, and so are not worth
// keeping the plan of, planned with their arguments: these say in which months the answer
// lies, and of others nothing is planned.
const beginReadOnlyCustomPlan = beginReadOnly + `; SET LOCAL plan_cache_mode = force_custom_plan`

// readOnly runs fn in a transaction that only reads, and ends it.
func (r *Reader) readOnly(ctx context.Context, fn func(Querier) error) error {
	return r.inTransaction(ctx, beginReadOnly, fn)
}

// readOnlyCustomPlan is report for what is put together for a question.
func (r *Reader) readOnlyCustomPlan(ctx context.Context, fn func(Querier) error) error {
	return r.inTransaction(ctx, beginReadOnlyCustomPlan, fn)
}

func (r *Reader) inTransaction(ctx context.Context, begin string, fn func(Querier) error) error {
	return r.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) (err error) {
		if _, err := c.Exec(ctx, begin, pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
		defer func() {
			// A context that has ended takes the connection with it.
			if _, rollback := c.Exec(ctx, "ROLLBACK", pgx.QueryExecModeSimpleProtocol); rollback != nil && ctx.Err() == nil {
				err = errors.Join(err, rollback)
			}
		}()
		return fn(c.Conn())
	})
}

// parseTotal reads a numeric that was written as text.
func parseTotal(text string) (money.Total, error) {
	t, err := money.ParseTotal(text)
	if err != nil {
		return t, fmt.Errorf("a sum in the books: %w", err)
	}
	return t, nil
}
