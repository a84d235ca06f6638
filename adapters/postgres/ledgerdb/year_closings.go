package ledgerdb

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/yearend"
	"causeway/ledger"
	"causeway/ports"
)

// A row for each closing and currency. Uses the primary keys.
const selectYearClosings = `
SELECT c.year, c.number, c.last_month, c.closed_at, c.token_id, c.actor, c.note, c.posting_id, c.seq, c.proposal_id, c.approver_token_id, c.approver,
       r.reversed_at, r.token_id, coalesce(r.actor, ''), coalesce(r.note, ''), r.posting_id, r.effective_at, r.proposal_id, r.approver_token_id, coalesce(r.approver, ''),
       coalesce(s.currency, ''), coalesce(s.income, 0)::text, coalesce(s.expense, 0)::text
FROM ledger_year_closings c
LEFT JOIN ledger_year_reversals r ON r.platform_id = c.platform_id AND r.year = c.year AND r.number = c.number
LEFT JOIN ledger_year_results s ON s.platform_id = c.platform_id AND s.year = c.year AND s.number = c.number
WHERE c.platform_id = $1
ORDER BY c.year, c.number, s.currency COLLATE "C"`

// YearClosings returns all closings of years of a platform, with their reversals, by year and number.
func YearClosings(ctx context.Context, q interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}, p ident.Platform) (closings []yearend.Closing, err error) {
	rows, err := q.Query(ctx, selectYearClosings, pgx.QueryExecModeCacheDescribe, pgUUID(p.UUID()))
	if err != nil {
		return nil, ReadError(err)
	}
	err = forEachRow(rows, func(rows pgx.Rows) error {
		c, err := scanYearClosing(rows, p)
		if n := len(closings) - 1; n >= 0 && closings[n].Year == c.Year && closings[n].Number == c.Number {
			closings[n].Results = append(closings[n].Results, c.Results...)
			return err
		}
		closings = append(closings, c)
		return err
	})
	return closings, ReadError(err)
}

func scanYearClosing(rows pgx.Rows, p ident.Platform) (yearend.Closing, error) {
	c, r := yearend.Closing{Platform: p}, yearend.Reversal{}
	var year int
	var last pgtype.Date
	var at, reversedAt, effective pgtype.Timestamptz
	var by, posting, proposal, approver, reversedBy, reversal, reversalProposal, reversalApprover pgtype.UUID
	var currency, income, expense string
	if err := rows.Scan(&year, &c.Number, &last, &at, &by, &c.By.Actor, &c.Note, &posting, &c.Seq, &proposal, &approver, &c.Approval.By.Actor,
		&reversedAt, &reversedBy, &r.By.Actor, &r.Note, &reversal, &effective, &reversalProposal, &reversalApprover, &r.Approval.By.Actor, &currency, &income, &expense); err != nil {
		return c, err
	}
	c.Year, c.At, c.Posting = yearend.OfNumber(year, last.Time.Month()), utc(at), posting.Bytes
	c.By.Token.SetUUID(by.Bytes)
	c.Approval.Proposal.SetUUID(proposal.Bytes)
	c.Approval.By.Token.SetUUID(approver.Bytes)
	if reversedAt.Valid {
		r.At, r.Posting, r.Effective = utc(reversedAt), reversal.Bytes, utc(effective)
		r.By.Token.SetUUID(reversedBy.Bytes)
		r.Approval.Proposal.SetUUID(reversalProposal.Bytes)
		r.Approval.By.Token.SetUUID(reversalApprover.Bytes)
		c.Reversal = &r
	}
	if currency == "" {
		return c, nil
	}
	result := yearend.Result{Currency: money.Currency(currency)}
	var err error
	if result.Income, err = parseTotal(income); err != nil {
		return c, err
	}
	result.Expense, err = parseTotal(expense)
	c.Results = []yearend.Result{result}
	return c, err
}

// YearClosings implements ports.AuditView.
func (v *auditView) YearClosings(ctx context.Context, p ident.Platform, each func(ports.AuditYearClosing) error) error {
	closings, err := YearClosings(ctx, v.tx, p)
	if err != nil {
		return wrapError("audit years", err)
	}
	for _, c := range closings {
		audited := ports.AuditYearClosing{Closing: c}
		posting, reversal := postingKey{p, c.Posting}, postingKey{platform: p}
		if c.Reversal != nil {
			reversal.id = c.Reversal.Posting
		}
		stored, err := v.store.postings(ctx, v.tx, []postingKey{posting, reversal})
		if err != nil {
			return wrapError("audit years", err)
		}
		audited.ClosingPosting, audited.ReversalPosting = stored[posting], stored[reversal]
		err = queryFreshPlan(ctx, v.tx, SelectResultBalances, ResultBalancesArgs(p, c.Year.Last().Start(), c.Seq), func(rows pgx.Rows) error {
			balance, err := ScanResultBalance(rows)
			audited.Balances = append(audited.Balances, balance)
			return err
		})
		if err != nil {
			return wrapError("audit years", err)
		}
		if err := each(audited); err != nil {
			return err
		}
	}
	return nil
}

// YearEndPostings implements ports.AuditView. Uses ledger_postings_by_rare_kind.
func (v *auditView) YearEndPostings(ctx context.Context, p ident.Platform, each func(ports.NumberedPosting) error) error {
	var found []ports.NumberedPosting
	err := queryFreshPlan(ctx, v.tx, `SELECT p.seq, p.id FROM ledger_postings p WHERE p.platform_id = $1 AND p.kind = 'year_end' AND `+RareKindsCondition+` ORDER BY p.seq`,
		[]any{pgUUID(p.UUID())}, func(rows pgx.Rows) error {
			var id [16]byte
			n := ports.NumberedPosting{Posting: ledger.Posting{Platform: p, Kind: ledger.KindYearEnd}}
			err := rows.Scan(&n.Seq, &id)
			n.Posting.ID = id
			found = append(found, n)
			return err
		})
	if err != nil {
		return wrapError("audit years", err)
	}
	for _, n := range found {
		if err := each(n); err != nil {
			return err
		}
	}
	return nil
}

// ResultBalancesArgs returns the arguments of SelectResultBalances for the month that starts at a time.
func ResultBalancesArgs(p ident.Platform, month time.Time, seq int64) []any {
	return []any{pgUUID(p.UUID()), pgtype.Date{Time: month.AddDate(0, -1, 0), Valid: true}, month, month.AddDate(0, 1, 0), seq}
}
