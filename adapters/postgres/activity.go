package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/storage"
	"causeway/core/diff"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// actorsOf lists the actors of a table by one look into the index for each of the platform.
const actorsOf = `
	(WITH RECURSIVE all_actors AS (
		(SELECT actor FROM %[1]s WHERE platform_id = $1 ORDER BY actor LIMIT 1)
		UNION ALL
		SELECT (SELECT next.actor FROM %[1]s next WHERE next.platform_id = $1 AND next.actor > a.actor ORDER BY next.actor LIMIT 1)
		FROM all_actors a WHERE a.actor IS NOT NULL)
	SELECT actor FROM all_actors WHERE actor IS NOT NULL)`

// The statements that read what people have done, newest first, each part of which stops after a page: of everybody by the primary keys,
// of some actors ($7) and persons ($8), and of an object, by its id or its name ($9), by those or by everybody if they are NULL. The last
// one lists the actors.
var allActivities, activitiesByActor, activitiesBySubject, activitiesByName, activityActors = composeActivities()

func composeActivities() (all, byActor, bySubject, byName, actors string) {
	var everything, ofActors, ofSubjects, ofNames, names []string
	for _, t := range activityTables {
		hasActor := fmt.Sprintf("(%s = ANY ($7) OR %s = ANY ($8))", t.actor, t.person)
		part := func(where string) string {
			between, order := "", t.id
			if t.made { // the times are in an index, or the table is small
				between, order = fmt.Sprintf(" AND %[1]s >= $5 AND %[1]s < $6", t.at), t.at+" DESC, "+t.id
			}
			return fmt.Sprintf("(SELECT %s FROM %s WHERE platform_id = $1%s AND %[4]s > $2 AND %[4]s < $3%[3]s%[5]s ORDER BY %[6]s DESC LIMIT $4)",
				t.columns(), t.table, t.where+between, t.id, where, order)
		}
		everything = append(everything, part(""))
		if t.byActor {
			names = append(names, fmt.Sprintf(actorsOf, t.table))
			ofActors = append(ofActors, "(SELECT of_actor.* FROM unnest($7::text[]) a (name), LATERAL "+part(" AND actor = a.name")+" AS of_actor)")
		} else {
			names = append(names, fmt.Sprintf("SELECT %s FROM %s WHERE platform_id = $1%s", t.actor, t.table, t.where))
			ofActors = append(ofActors, part(" AND "+hasActor))
		}
		ofSomebody := " AND ($7::text[] IS NULL OR " + hasActor + ")"
		for _, subject := range t.subjects {
			ofSubjects = append(ofSubjects, part(" AND "+subject+ofSomebody))
		}
		if t.subject != "" && !strings.Contains(t.subject, ":' || ") { // what has an id is found by it
			ofNames = append(ofNames, part(fmt.Sprintf(" AND %[1]s = $9 AND %[1]s <> ''", t.subject)+ofSomebody)) // the index has such rows only
		}
	}
	combined := func(parts []string) string {
		return "SELECT * FROM (\n" + strings.Join(parts, "\nUNION ALL\n") + `
) AS parts (id, at, actor, person_id, action, note, subject_id, subject, changes, approver) ORDER BY id DESC LIMIT $4`
	}
	return combined(everything), combined(ofActors), combined(ofSubjects), combined(ofNames), strings.Join(names, "\nUNION\n")
}

// Activities implements activity.Store. Its statements are prepared: to plan them takes many times as long as to run them.
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
	statement := allActivities
	args := []any{f.Platform.UUID(), from, to, f.Limit, timeOf(from), timeOf(to).Add(time.Millisecond)}
	var by actors
	if f.Actor != "" {
		var err error
		if by, err = db.actorsShownWith(ctx, f.Platform, f.Actor); err != nil {
			return nil, err
		}
		statement = activitiesByActor
	}
	if f.Actor != "" || f.SubjectID != uuid.Nil || f.Subject != "" {
		args = append(args, by.names, by.people)
	}
	switch {
	case f.SubjectID != uuid.Nil:
		statement, args = activitiesBySubject, append(args, f.SubjectID)
	case f.Subject != "":
		statement, args = activitiesByName, append(args, f.Subject)
	}
	var people []ident.Person
	var approvers []string
	found, err := storage.Collect(ctx, db.Readers().read, statement, args, func(rows pgx.Rows, a *ports.Activity) error {
		var changes []byte
		var who uuid.UUID
		var approver string
		err := rows.Scan(&a.ID, &a.At, &a.Actor, &who, &a.Action, &a.Note, &a.SubjectID, &a.Subject, &changes, &approver)
		var id ident.Person
		id.SetUUID(who)
		people, approvers = append(people, id), append(approvers, approver)
		if err == nil {
			a.Changes, err = readActivityChanges(changes)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	texts := make([]*string, 0, 2*len(found))
	for i := range found {
		texts = append(texts, &found[i].Actor, &approvers[i])
	}
	if err = db.NameTokens(ctx, f.Platform, texts...); err != nil {
		return nil, err
	}
	shown, err := db.shownPeople(ctx, people)
	for i, approver := range approvers {
		if approver != "" {
			found[i].Note = strings.TrimPrefix(found[i].Note+"; approved by "+approver, "; ")
		}
		// A token, and whom it belongs to, are named already.
		if name := shown[people[i]]; name != "" && len(platform.TokensIn(found[i].Actor)) == 0 {
			found[i].Actor = name
		}
	}
	return found, err
}

// readActivityChanges reads changes that were recorded, or those of the columns of a version, which become as the recorded ones: with the
// names of the API, and as much of long values.
func readActivityChanges(text []byte) ([]diff.Field, error) {
	if !bytes.HasPrefix(text, []byte("{")) {
		return readChanges(text)
	}
	var version struct {
		Columns []changedField `json:"columns"`
	}
	err := json.Unmarshal(text, &version)
	before, after := diff.Values{}, diff.Values{}
	for _, c := range version.Columns {
		before[fieldOf(c.Name)], after[fieldOf(c.Name)] = c.Before, c.After
	}
	return diff.Limited(diff.Between(before, after)), err
}

// fieldOf returns the name that the API has for the field of a column, such as fourEyes for four_eyes.
func fieldOf(column string) string {
	words := strings.Split(column, "_")
	for i, word := range words[1:] {
		if word != "" {
			words[i+1] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}

// timeOf returns the time of an id, to the millisecond.
func timeOf(id uuid.UUID) time.Time {
	return time.UnixMilli(int64(binary.BigEndian.Uint64(id[:8]) >> 16))
}

// shownPerson is how the audit shows a person, by its id and in small letters.
const shownPerson = "CASE name WHEN email THEN email ELSE name || ' (' || email || ')' END"

// shownPeople returns how people are shown.
func (db *DB) shownPeople(ctx context.Context, people []ident.Person) (map[ident.Person]string, error) {
	shown := map[ident.Person]string{}
	const byID = "SELECT id, " + shownPerson + " FROM people WHERE id = ANY ($1)"
	return shown, db.Readers().read(ctx, byID, []any{people}, func(rows pgx.Rows) error {
		var id ident.Person
		var name string
		err := rows.Scan(&id, &name)
		shown[id] = name
		return err
	})
}

// actors are who has done something: as it was recorded, and the people.
type actors struct {
	names  []string
	people []ident.Person
}

// actorsShownWith returns the actors of a platform who are shown with a part in their names, which is in small letters: tokens are shown
// with what NameTokens writes, and people with their name and e-mail address.
func (db *DB) actorsShownWith(ctx context.Context, p ident.Platform, part string) (with actors, err error) {
	var emails []string
	const shownWith = "SELECT id, lower(email) FROM people WHERE strpos(lower(" + shownPerson + "), $1) > 0"
	err = db.Readers().read(ctx, shownWith, []any{part}, func(rows pgx.Rows) error {
		var id ident.Person
		var email string
		err := rows.Scan(&id, &email)
		with.people, emails = append(with.people, id), append(emails, email)
		return err
	})
	if err != nil {
		return actors{}, err
	}
	all, err := storage.Collect(ctx, db.Readers().read, activityActors, []any{p.UUID()}, func(rows pgx.Rows, name *string) error {
		return rows.Scan(name)
	})
	if err != nil {
		return actors{}, err
	}
	shown, texts := slices.Clone(all), make([]*string, len(all))
	for i := range shown {
		texts[i] = &shown[i]
	}
	if err := db.NameTokens(ctx, p, texts...); err != nil {
		return actors{}, err
	}
	with.names = []string{} // NULL stands for everybody
	for i, actor := range all {
		name := strings.ToLower(shown[i])
		if strings.Contains(name, part) || slices.ContainsFunc(emails, func(email string) bool {
			return name == email || strings.HasPrefix(name, email+" (")
		}) {
			with.names = append(with.names, actor)
		}
	}
	return with, nil
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
