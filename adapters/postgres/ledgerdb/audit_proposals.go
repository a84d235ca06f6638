package ledgerdb

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"causeway/core/ident"
	"causeway/ports"
)

// approvedTables are the tables of a platform that have changes made by proposals, with what each change is called.
var approvedTables = []struct{ name, subject string }{
	{"ledger_authorisations", "'posting ' || posting_id"},
	{"unmatched_assignments", "'assignment of receipt ' || receipt_id"},
	{"ledger_period_changes", "action || ' of ' || to_char(month, 'YYYY-MM')"},
	{"receivable_changes", "'change ' || number || ' of receivable ' || receivable_id"},
	{"ledger_settings", "'settings version ' || version"},
	{"treasury_movements", "'treasury movement ' || id"},
	{"treasury_arrivals", "'arrival of treasury movement ' || movement_id"},
	{"safeguarding_purposes", "'purpose of ' || account || ' version ' || version"},
	{"ledger_added_accounts", "'account ' || path || ' version ' || version"},
	{"ledger_recurring_adjustments", "'recurring adjustment ' || name || ' version ' || version"},
	{"ledger_gl_mappings", "'general ledger mapping version ' || version"},
	{"ledger_month_end_runs", "kind || ' run ' || run || ' of ' || to_char(month, 'YYYY-MM')"},
	{"ledger_year_closings", "'closing ' || number || ' of the year ' || year"},
	{"ledger_year_reversals", "'reversal of closing ' || number || ' of the year ' || year"},
	{"rail_decisions", "'decision ' || id || ' about payment ' || payment_id"},
}

// auditProposedChanges pairs the executed proposals of a platform, or those for all platforms and of connections if it is NULL, with the
// changes that were made by one, in all tables of such changes. Both are made by hand, so there are few of them.
var auditProposedChanges = "WITH changes AS (" + changesOfPlatform() + `
    SELECT 'resolution of break ' || break_id, proposal_id, CASE WHEN resolved_by ~ '^Token:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN substr(resolved_by, 7)::uuid END,
        actor, person_id, approver_token_id, approver
    FROM reconciliation_resolutions
    WHERE platform_id = $1 AND (proposal_id IS NOT NULL OR approver_token_id IS NOT NULL OR approver <> '')
    UNION ALL
    SELECT 'price change ' || seq || ' of ' || source || ' to ' || destination, proposal_id, NULL, changed_by, person_id, NULL, approver FROM corridor_changes
    WHERE platform_id IS NOT DISTINCT FROM $1 AND (proposal_id IS NOT NULL OR approver <> '')
    UNION ALL
    SELECT 'version ' || version || ' of connection ' || name, proposal_id, NULL, set_by, person_id, NULL, approver FROM rail_connections
    WHERE $1::uuid IS NULL AND (proposal_id IS NOT NULL OR approver <> '')
    UNION ALL
    SELECT 'balance in ' || currency || ' of connection ' || connection, proposal_id, NULL, set_by, person_id, NULL, approver FROM rail_opening_balances
    WHERE $1::uuid IS NULL AND (proposal_id IS NOT NULL OR approver <> '')
), proposals AS (
    SELECT id, operation, status, proposer_token_id, proposer, proposer_person_id, decider_token_id, decider, decider_person_id
    FROM ledger_proposals WHERE platform_id = $1
    UNION ALL
    SELECT id, operation, status, NULL, proposer, proposer_person_id, NULL, decider, decider_person_id
    FROM corridor_proposals WHERE platform_id IS NOT DISTINCT FROM $1
    UNION ALL
    SELECT id, operation, status, NULL, proposer, proposer_person_id, NULL, decider, decider_person_id FROM rail_proposals WHERE $1::uuid IS NULL
)
SELECT coalesce(p.id, c.proposal_id), coalesce(p.operation, ''), coalesce(p.status, ''),
       p.proposer_token_id, coalesce(p.proposer, ''), p.decider_token_id, coalesce(p.decider, ''), p.proposer_person_id, p.decider_person_id,
       coalesce(c.subject, ''), c.token_id, coalesce(c.actor, ''), c.approver_token_id, coalesce(c.approver, ''), c.person_id
FROM proposals p
FULL JOIN changes c ON c.proposal_id = p.id
WHERE p.status = 'EXECUTED' OR c.subject IS NOT NULL
ORDER BY 1, c.subject`

func changesOfPlatform() string {
	var changes strings.Builder
	for _, t := range approvedTables {
		fmt.Fprintf(&changes, `
    SELECT %s AS subject, proposal_id, token_id, actor, person_id, approver_token_id, approver FROM %s
    WHERE platform_id = $1 AND (proposal_id IS NOT NULL OR approver_token_id IS NOT NULL OR approver <> '')
    UNION ALL`, t.subject, t.name)
	}
	return changes.String()
}

// ProposedChanges implements ports.AuditView.
func (v *auditView) ProposedChanges(ctx context.Context, p ident.Platform, each func(ports.AuditProposedChange) error) error {
	var found []ports.AuditProposedChange
	err := queryFreshPlan(ctx, v.tx, auditProposedChanges, []any{p}, func(rows pgx.Rows) error {
		var c ports.AuditProposedChange
		err := rows.Scan(&c.Proposal, &c.Operation, &c.Status, &c.Proposer.Token, &c.Proposer.Actor, &c.Decider.Token, &c.Decider.Actor,
			&c.ProposerPerson, &c.DeciderPerson,
			&c.Change, &c.By.Token, &c.By.Actor, &c.ApprovedBy.Token, &c.ApprovedBy.Actor, &c.ChangePerson)
		found = append(found, c)
		return err
	})
	if err != nil {
		return wrapError("audit proposals", err)
	}
	for _, c := range found {
		if err := each(c); err != nil {
			return err
		}
	}
	return nil
}
