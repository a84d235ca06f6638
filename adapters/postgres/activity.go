package postgres

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/storage"
	"causeway/core/ident"
	"causeway/ports"
)

// activityTable is a table of what people have done. Its ids are in the order of time.
type activityTable struct {
	from string
	// columns are those of a ports.Activity, and who decided if somebody else did. actors are the expressions of both.
	columns, actors string
	// byActor: an index finds the rows of an actor, by id.
	byActor bool
	// subjects are the conditions of what it was done to ($6), of which no row has two. An index finds the rows of each, but for the
	// subjects of jobs, which people have retried or discarded.
	subjects []string
}

const (
	proposerText = "coalesce(nullif(proposer, ''), 'Token:' || proposer_token_id)"
	deciderText  = "coalesce(nullif(decider, ''), 'Token:' || decider_token_id, '')"
	periodAuthor = "coalesce(nullif(actor, ''), 'Token:' || token_id)"
)

var activityTables = []activityTable{
	{"operator_actions", `id, at, actor, action, coalesce((SELECT 'refused: ' || reason FROM operator_refusals r
		WHERE r.platform_id = $1 AND r.action_id = operator_actions.id), '') AS note, subject_id, subject, changes, ''`, "actor", true,
		[]string{"subject_id = $6"}},
	{"job_actions", "id, at, actor, action || '_JOB', reason, job_id, step, NULL::jsonb, ''", "actor", true,
		[]string{"job_id = $6", "$6 = ANY (subjects)"}},
	{"rail_decisions", "id, decided_at, actor, decision || '_' || kind, note, payment_id, '', NULL::jsonb, ''", "actor", true,
		[]string{"payment_id = $6"}},
	{"verification_reviews", `id, reviewed_at, actor, 'REVIEW_' || verdict, '', coalesce(verification_id, owner_id),
		'Customer:' || customer_id, NULL::jsonb, ''`, "actor", true, []string{"verification_id = $6", "owner_id = $6", "customer_id = $6"}},
	{"ledger_proposals", "id, created_at, " + proposerText + ", 'PROPOSE_' || action, lower(status), id, operation, NULL::jsonb, " +
		deciderText, proposerText + ", " + deciderText, false, []string{"id = $6"}},
	// A change of a month has a number, of which an id is made.
	{`(SELECT *, (lpad(to_hex((extract(epoch FROM changed_at) * 1000)::bigint), 12, '0') || '70008000' || lpad(to_hex(id), 12, '0'))::uuid AS at_id
		FROM ledger_period_changes WHERE platform_id = $1) AS months`, "at_id, changed_at, " + periodAuthor + `,
		upper(replace(action, '-', '_')) || '_MONTH', note, '00000000-0000-0000-0000-000000000000'::uuid AS subject_id, to_char(month, 'YYYY-MM'),
		NULL::jsonb, ''`, periodAuthor, false, nil},
}

// actorsOf lists the actors of a table by one look into the index for each of the platform.
const actorsOf = `
	(WITH RECURSIVE all_actors AS (
		(SELECT actor FROM %[1]s WHERE platform_id = $1 ORDER BY actor LIMIT 1)
		UNION ALL
		SELECT (SELECT next.actor FROM %[1]s next WHERE next.platform_id = $1 AND next.actor > a.actor ORDER BY next.actor LIMIT 1)
		FROM all_actors a WHERE a.actor IS NOT NULL)
	SELECT actor FROM all_actors)`

// The statements that read what people have done, newest first, each part of which stops after a page: of everybody by the primary keys,
// of some actors ($5), and of an object ($6), by some actors or by everybody if that is NULL. The last one reads the actors whose names
// may have a part ($2), as far as that is known without the names of tokens.
var allActivities, activitiesByActor, activitiesBySubject, activityActors = composeActivities()

func composeActivities() (all, byActor, bySubject, actors string) {
	const hasActor = "ARRAY[%s] && $5::text[]"
	var everything, ofActors, ofSubjects, names []string
	for _, t := range activityTables {
		id, _, _ := strings.Cut(t.columns, ",")
		part := func(where string) string {
			return fmt.Sprintf("(SELECT %s FROM %s WHERE platform_id = $1 AND %[3]s > $2 AND %[3]s < $3%s ORDER BY %[3]s DESC LIMIT $4)", t.columns,
				t.from, id, where)
		}
		everything = append(everything, part(""))
		if t.byActor {
			names = append(names, fmt.Sprintf(actorsOf, t.from))
			ofActors = append(ofActors, "(SELECT of_actor.* FROM unnest($5::text[]) a (name), LATERAL "+part(" AND actor = a.name")+" AS of_actor)")
		} else {
			names = append(names, fmt.Sprintf("SELECT unnest(ARRAY[%s]) FROM %s WHERE platform_id = $1", t.actors, t.from))
			ofActors = append(ofActors, part(" AND "+fmt.Sprintf(hasActor, t.actors)))
		}
		for _, subject := range t.subjects {
			ofSubjects = append(ofSubjects, part(" AND "+subject+" AND ($5::text[] IS NULL OR "+fmt.Sprintf(hasActor, t.actors)+")"))
		}
	}
	combined := func(parts []string) string {
		return "SELECT * FROM (\n" + strings.Join(parts, "\nUNION ALL\n") + `
) AS parts (id, at, actor, action, note, subject_id, subject, changes, decider) ORDER BY id DESC LIMIT $4`
	}
	return combined(everything), combined(ofActors), combined(ofSubjects), "SELECT name FROM (\n" + strings.Join(names, "\nUNION\n") + `
) AS actors (name) WHERE strpos(lower(name), $2) > 0 OR strpos(name, 'Token:') > 0`
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
	var actors []string
	if f.Actor != "" {
		var err error
		if actors, err = db.actorsShownWith(ctx, f.Platform, f.Actor); err != nil || len(actors) == 0 {
			return nil, err
		}
	}
	statement, args := allActivities, []any{f.Platform.UUID(), from, to, f.Limit}
	switch {
	case f.SubjectID != uuid.Nil:
		statement, args = activitiesBySubject, append(args, actors, f.SubjectID)
	case f.Actor != "":
		statement, args = activitiesByActor, append(args, actors)
	}
	var deciders []string
	found, err := storage.Collect(ctx, db.queryRows, statement, args, func(rows pgx.Rows, a *ports.Activity) error {
		var changes []byte
		var decider string
		err := rows.Scan(&a.ID, &a.At, &a.Actor, &a.Action, &a.Note, &a.SubjectID, &a.Subject, &changes, &decider)
		if deciders = append(deciders, decider); err == nil {
			a.Changes, err = readChanges(changes)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	texts := make([]*string, 0, 2*len(found))
	for i := range found {
		texts = append(texts, &found[i].Actor, &deciders[i])
	}
	err = db.NameTokens(ctx, f.Platform, texts...)
	for i, decider := range deciders {
		if decider != "" {
			found[i].Note += " by " + decider
		}
	}
	return found, err
}

// actorsShownWith returns the actors of a platform who are shown with a part in their names, which is in small letters: tokens are shown
// with what NameTokens writes.
func (db *DB) actorsShownWith(ctx context.Context, p ident.Platform, part string) ([]string, error) {
	actors, err := storage.Collect(ctx, db.queryRows, activityActors, []any{p.UUID(), part}, func(rows pgx.Rows, name *string) error {
		return rows.Scan(name)
	})
	if err != nil {
		return nil, err
	}
	shown, texts := slices.Clone(actors), make([]*string, len(actors))
	for i := range shown {
		texts[i] = &shown[i]
	}
	err = db.NameTokens(ctx, p, texts...)
	with := actors[:0]
	for i, actor := range actors {
		if strings.Contains(strings.ToLower(shown[i]), part) {
			with = append(with, actor)
		}
	}
	return with, err
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
