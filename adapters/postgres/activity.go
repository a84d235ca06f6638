package postgres

import (
	"context"
	"fmt"
	"math/big"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/storage"
	"causeway/ports"
)

// activityTable is a table of what people have done. Its ids are in the order of time.
type activityTable struct {
	from string
	// columns are those of a ports.Activity, and actor an expression of who did it.
	columns, actor string
	// byActor: an index finds the rows of an actor, by id.
	byActor bool
	// subjects are the conditions of what it was done to ($6), of which no row has two. An index finds the rows of each, but for the
	// subjects of jobs, which people have retried or discarded.
	subjects []string
}

var activityTables = []activityTable{
	{"operator_actions", `id, at, actor, action, coalesce((SELECT 'refused: ' || reason FROM operator_refusals r
		WHERE r.platform_id = $1 AND r.action_id = operator_actions.id), '') AS note, subject_id, subject, changes`, "actor", true,
		[]string{"subject_id = $6"}},
	{"job_actions", "id, at, actor, action || '_JOB', reason, job_id, step, NULL::jsonb", "actor", true,
		[]string{"job_id = $6", "$6 = ANY (subjects)"}},
	{"rail_decisions", "id, decided_at, actor, decision || '_' || kind, note, payment_id, '', NULL::jsonb", "actor", true,
		[]string{"payment_id = $6"}},
	{"verification_reviews", `id, reviewed_at, actor, 'REVIEW_' || verdict, '', coalesce(verification_id, owner_id),
		'Customer:' || customer_id, NULL::jsonb`, "actor", true, []string{"verification_id = $6", "owner_id = $6", "customer_id = $6"}},
	{"ledger_proposals", `id, created_at, coalesce(nullif(proposer, ''), 'Token:' || proposer_token_id), 'PROPOSE_' || action,
		lower(status) || CASE WHEN decided_at IS NULL THEN '' ELSE ' by ' || coalesce(nullif(decider, ''), 'Token:' || decider_token_id) END,
		id, operation, NULL::jsonb`, `proposer || E'\n' || decider`, false, []string{"id = $6"}},
	// A change of a month has a number, of which an id is made.
	{`(SELECT *, (lpad(to_hex((extract(epoch FROM changed_at) * 1000)::bigint), 12, '0') || '70008000' || lpad(to_hex(id), 12, '0'))::uuid AS at_id
		FROM ledger_period_changes WHERE platform_id = $1) AS months`, `at_id, changed_at, coalesce(nullif(actor, ''), 'Token:' || token_id),
		upper(replace(action, '-', '_')) || '_MONTH', note, '00000000-0000-0000-0000-000000000000'::uuid AS subject_id, to_char(month, 'YYYY-MM'), NULL::jsonb`,
		"actor", false, nil},
}

// actorsOf finds the actors of a table whose names have a part ($5), by one look into the index for each actor of the platform.
const actorsOf = `
	(WITH RECURSIVE all_actors AS (
		(SELECT actor FROM %[1]s WHERE platform_id = $1 ORDER BY actor LIMIT 1)
		UNION ALL
		SELECT (SELECT next.actor FROM %[1]s next WHERE next.platform_id = $1 AND next.actor > a.actor ORDER BY next.actor LIMIT 1)
		FROM all_actors a WHERE a.actor IS NOT NULL)
	SELECT actor FROM all_actors WHERE strpos(lower(actor), $5) > 0)`

// The statements that read what people have done, newest first, each part of which stops after a page: of everybody by the primary keys,
// of those whose names have a part, and of an object ($6), of those whose names have a part or of everybody if that is empty.
var allActivities, activitiesByActor, activitiesBySubject = composeActivities()

func composeActivities() (all, byActor, bySubject string) {
	const hasActor = ` AND strpos(lower(%s), $5) > 0`
	var everything, ofActors, ofSubjects, actors []string
	for _, t := range activityTables {
		id, _, _ := strings.Cut(t.columns, ",")
		part := func(where string) string {
			return fmt.Sprintf("(SELECT %s FROM %s WHERE platform_id = $1 AND %[3]s > $2 AND %[3]s < $3%s ORDER BY %[3]s DESC LIMIT $4)", t.columns,
				t.from, id, where)
		}
		everything = append(everything, part(""))
		if t.byActor {
			actors = append(actors, fmt.Sprintf(actorsOf, t.from))
			ofActors = append(ofActors, "(SELECT of_actor.* FROM actors a, LATERAL "+part(" AND actor = a.name")+" AS of_actor)")
		} else {
			ofActors = append(ofActors, part(fmt.Sprintf(hasActor, t.actor)))
		}
		for _, subject := range t.subjects {
			ofSubjects = append(ofSubjects, part(" AND "+subject+fmt.Sprintf(hasActor, t.actor)))
		}
	}
	combined := func(parts []string) string {
		return "SELECT * FROM (\n" + strings.Join(parts, "\nUNION ALL\n") + `
) AS parts (id, at, actor, action, note, subject_id, subject, changes) ORDER BY id DESC LIMIT $4`
	}
	names := "WITH actors (name) AS MATERIALIZED (" + strings.Join(actors, " UNION ") + ")\n"
	return combined(everything), names + combined(ofActors), combined(ofSubjects)
}

// Activities implements activity.Store.
func (db *DB) Activities(ctx context.Context, f ports.ActivityFilter) ([]ports.Activity, error) {
	from, to := idAt(f.At.From), f.After
	if end := idAt(f.At.To); !f.At.To.IsZero() && (to == uuid.Nil || string(end[:]) < string(to[:])) {
		to = end
	}
	if to == uuid.Nil {
		to = uuid.Max
	}
	if f.ID != uuid.Nil {
		from, to = beside(f.ID, -1), beside(f.ID, 1)
	}
	read, statement, args := db.queryRows, allActivities, []any{f.Platform.UUID(), from, to, f.Limit}
	switch {
	case f.SubjectID != uuid.Nil: // is prepared: to plan it takes many times as long as to run it
		read, statement, args = db.read, activitiesBySubject, append(args, f.Actor, f.SubjectID)
	case f.Actor != "":
		statement, args = activitiesByActor, append(args, f.Actor)
	}
	found, err := storage.Collect(ctx, read, statement, args, func(rows pgx.Rows, a *ports.Activity) error {
		var changes []byte
		err := rows.Scan(&a.ID, &a.At, &a.Actor, &a.Action, &a.Note, &a.SubjectID, &a.Subject, &changes)
		if err == nil {
			a.Changes, err = readChanges(changes)
		}
		return err
	})
	texts := make([]*string, 0, 2*len(found))
	for i := range found {
		texts = append(texts, &found[i].Actor, &found[i].Note)
	}
	if err == nil {
		err = db.NameTokens(ctx, f.Platform, texts...)
	}
	return found, err
}

// beside returns the id that is one below or above another one.
func beside(id uuid.UUID, by int64) (next uuid.UUID) {
	n := new(big.Int).SetBytes(id[:])
	if n.Add(n, big.NewInt(by)); n.Sign() < 0 || n.BitLen() > 128 {
		return id // there is none
	}
	n.FillBytes(next[:])
	return next
}
