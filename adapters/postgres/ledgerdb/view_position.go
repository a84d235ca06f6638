package ledgerdb

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/core/exchange"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

// PositionAccounts returns a query of the accounts that the foreign exchange position consists of: their id, path,
// currency, class, and whether they are of income, expense or own funds ("own"). The platform is $1; the arguments name
// the parameters with the functional currency and with the ranges of PositionRanges. Uses ledger_accounts_by_path.
func PositionAccounts(functional, first, beyond string) string {
	return `
    SELECT a.id, a.path, a.currency, a.class, a.path <> 'fx/position' AS own` + fromPathRanges(first, beyond) + `
    WHERE a.path = 'fx/position' OR a.currency <> ` + functional
}

// fromPathRanges returns the accounts "a" of a platform ($1) in ranges of paths.
func fromPathRanges(first, beyond string) string {
	return `
    FROM unnest(` + first + `::text[], ` + beyond + `::text[]) AS w (first, beyond)
    CROSS JOIN LATERAL (
        SELECT a.id, a.path, a.currency, a.class FROM ledger_accounts a
        WHERE a.platform_id = $1 AND a.path IS NOT NULL AND a.path COLLATE "C" >= w.first AND a.path COLLATE "C" < w.beyond
        OFFSET 0 -- reads one range at a time
    ) a`
}

// PositionRanges returns the ranges of paths for PositionAccounts.
func PositionRanges() (first, beyond []string) {
	return pathRanges(append(exchange.OwnAccounts(), ledger.FXPosition))
}

// PathBeyond returns the end of the range of a path, or of the group that one with a slash at its end stands for.
func PathBeyond(path string) string {
	if strings.HasSuffix(path, "/") {
		return prefixEnd(path)
	}
	return path + "\x01" // the path alone
}

// pathRanges returns the ranges of paths, and of the groups that end in a slash.
func pathRanges(paths []string) (first, beyond []string) {
	for _, path := range paths {
		first, beyond = append(first, path), append(beyond, PathBeyond(path))
	}
	return first, beyond
}

// reversedKind is the kind of the posting that a posting p reverses, unless they belong to a payment. Uses the primary
// keys.
const reversedKind = `CASE WHEN p.reverses IS NOT NULL AND p.transaction_id IS NULL THEN (
    SELECT o.kind FROM ledger_posting_ids i JOIN ledger_postings o ON o.platform_id = i.platform_id AND o.seq = i.seq AND o.recorded_at = i.recorded_at
    WHERE i.platform_id = $1 AND i.id = p.reverses
) END`

// selectMovedPostings has the postings of moves with what they moved.
const selectMovedPostings = `
SELECT p.seq, p.id, p.kind, ` + reversedKind + `, p.transaction_id, p.effective_at, m.paths, m.currencies, m.quantities
FROM (
    SELECT seq, recorded_at, backdated, array_agg(path) AS paths, array_agg(currency) AS currencies, array_agg(quantity) AS quantities
    FROM moves GROUP BY seq, recorded_at, backdated
) m`

// selectPositionPostings has the postings in their order by effective time.
var selectPositionPostings = movesOn(PositionAccounts("$2", "$11", "$12")) + selectMovedPostings + movedPostings + `
ORDER BY p.effective_at, p.seq`

// lateMovesOn returns the entries on accounts that are effective before $5, of postings with numbers after $3 up to $4.
// They were recorded after that time, so that nearly all are backdated; the others are found by their accounts. See
// movesOn.
func lateMovesOn(accounts string) string {
	return `
WITH accounts AS MATERIALIZED (` + accounts + `), own AS MATERIALIZED (SELECT id FROM accounts WHERE own), bound AS MATERIALIZED (
    SELECT least($4, ledger_seq_at($1, $5::timestamptz + interval '10 seconds')) AS seq
), backdated AS MATERIALIZED (
    SELECT y.* FROM ledger_entries_spanning($1, $5::timestamptz - interval '1 microsecond') y WHERE y.seq > $3 AND y.seq <= $4
), moves AS (
    SELECT b.seq, b.recorded_at, a.path, a.currency, -b.amount AS quantity, true AS backdated FROM backdated b JOIN accounts a ON a.id = b.debit_account_id
    WHERE NOT (a.own AND b.credit_account_id IN (SELECT id FROM own))
    UNION ALL
    SELECT b.seq, b.recorded_at, a.path, a.currency, b.amount, true FROM backdated b JOIN accounts a ON a.id = b.credit_account_id
    WHERE NOT (a.own AND b.debit_account_id IN (SELECT id FROM own))
    UNION ALL
    SELECT m.seq, m.recorded_at, a.path, a.currency, m.quantity, false
    FROM accounts a, bound, LATERAL (
        SELECT e.seq, e.recorded_at, -e.amount AS quantity FROM ledger_entries e
        WHERE e.platform_id = $1 AND e.debit_account_id = a.id AND e.seq > $3 AND e.seq <= bound.seq AND NOT (a.own AND e.credit_account_id IN (SELECT id FROM own))
        UNION ALL
        SELECT e.seq, e.recorded_at, e.amount FROM ledger_entries e
        WHERE e.platform_id = $1 AND e.credit_account_id = a.id AND e.seq > $3 AND e.seq <= bound.seq AND NOT (a.own AND e.debit_account_id IN (SELECT id FROM own))
    ) m
    WHERE bound.seq > $3
)`
}

// lateMovedPostings joins the postings of lateMovesOn, each found by one of its two ways.
const lateMovedPostings = `
JOIN ledger_postings p ON p.platform_id = $1 AND p.seq = m.seq AND p.recorded_at = m.recorded_at
WHERE p.effective_at < $5 AND m.backdated = ` + backdatedCondition

// selectLatePositionPostings has the postings in their order by effective time.
var selectLatePositionPostings = lateMovesOn(PositionAccounts("$2", "$6", "$7")) + selectMovedPostings + lateMovedPostings + `
ORDER BY p.effective_at, p.seq`

// PositionPostings implements ports.MonthEndView. The database sorts the postings of a part.
func (v *ledgerView) PositionPostings(ctx context.Context, functional money.Currency, i period.Interval,
	each func(ports.PositionPosting) error) error {
	early, err := v.recordedEarly(ctx, i)
	if err != nil {
		return err
	}
	first, beyond := PositionRanges()
	return v.inParts(i, func(part period.Interval) error {
		args, err := v.movesArgs(ctx, string(functional), part, early)
		if err != nil {
			return err
		}
		return v.positionPostings(ctx, selectPositionPostings, append(args, first, beyond), each)
	})
}

// LatePositionPostings implements ports.MonthEndView.
func (v *ledgerView) LatePositionPostings(ctx context.Context, functional money.Currency, after int64, before time.Time,
	each func(ports.PositionPosting) error) error {
	if after < v.months.lastArchivedSeq {
		return v.months.archivedError()
	}
	first, beyond := PositionRanges()
	return v.positionPostings(ctx, selectLatePositionPostings, []any{v.platform, string(functional), after, v.last.Seq, optionalTime(before),
		first, beyond}, each)
}

func (v *ledgerView) positionPostings(ctx context.Context, statement string, args []any, each func(ports.PositionPosting) error) error {
	return v.spool(ctx, "read the postings on the position", bulkReadSettings, statement, args, func(r row) error {
		p, err := scanPositionPosting(r)
		if err != nil {
			return err
		}
		p.Platform = v.platform
		return each(p)
	})
}

func scanPositionPosting(r row) (p ports.PositionPosting, err error) {
	var paths, currencies []string
	var quantities []int64
	if err := r.Scan(&p.Seq, &p.ID, &p.Kind, schema.Optional(&p.Reversed), &p.Transaction, &p.Effective, &paths, &currencies,
		&quantities); err != nil {
		return p, err
	}
	for i, path := range paths {
		leg := exchange.Leg{Currency: money.Currency(currencies[i]), Quantity: quantities[i]}
		if path == ledger.FXPosition {
			p.Legs = append(p.Legs, leg)
		} else {
			p.Own = append(p.Own, exchange.OwnLeg{Account: path, Leg: leg})
		}
	}
	return p, nil
}

var selectPositionAccounts = PositionAccounts("$2", "$3", "$4")

// Positions implements ports.MonthEndView.
func (v *ledgerView) Positions(ctx context.Context, functional money.Currency, at time.Time) (positions exchange.Positions, err error) {
	positions = exchange.Positions{Traded: map[money.Currency]int64{}, Own: map[money.Currency]int64{}}
	type account struct {
		id int64
		ledger.Account
		class ledger.Class
	}
	var accounts []account
	first, beyond := PositionRanges()
	err = v.read(ctx, indexLookupSettings, func(tx pgx.Tx) error {
		err := queryFreshPlan(ctx, tx, selectPositionAccounts, []any{v.platform, string(functional), first, beyond}, func(rows pgx.Rows) error {
			a, own := account{Account: ledger.Account{Platform: v.platform}}, false
			err := rows.Scan(&a.id, &a.Path, &a.Currency, &a.class, &own)
			accounts = append(accounts, a)
			return err
		})
		if err != nil {
			return err
		}
		for _, a := range accounts {
			balance, err := balanceAt(ctx, tx, v.months, a.Account, a.id, ports.ByEffective, at)
			if err != nil {
				return err
			}
			if a.class.IsDebitNormal() {
				balance = balance.Neg()
			}
			of := positions.Own
			if a.Path == ledger.FXPosition {
				of = positions.Traded
			}
			sum, fits := money.TotalOf(of[a.Currency]).Add(balance).Minor()
			if !fits {
				return money.ErrOverflow
			}
			of[a.Currency] = sum
		}
		return nil
	})
	if err != nil {
		return positions, fmt.Errorf("read the position: %w", translateError(err))
	}
	return positions, nil
}
