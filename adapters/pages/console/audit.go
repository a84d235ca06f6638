package console

import (
	"bufio"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"causeway/app/activity"
	"causeway/app/exports"
	"causeway/core/diff"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/ports"
)

// Activity are the use cases on what people have done.
type Activity interface {
	List(ctx context.Context, f ports.ActivityFilter) (found []ports.Activity, more bool, err error)
	Get(ctx context.Context, p ident.Platform, id uuid.UUID) (ports.Activity, error)
}

func (c *Console) auditRoutes() []platformRoute {
	return []platformRoute{
		{"GET", "/audit", person.ViewAudit, c.showAudit},
		{"GET", "/audit/{entry}", person.ViewAudit, c.showAuditEntry},
		{"GET", "/audit.csv", person.ViewAudit, c.downloadAudit},
		{"GET", "/audit.json", person.ViewAudit, c.downloadAuditJSON},
	}
}

// activityFilter returns the filter of a request: of the platform, or of the service as a whole on the page of no platform.
func activityFilter(r *request) (f ports.ActivityFilter, fields []field, problems []string) {
	query := r.URL.Query()
	get := func(name string) string { return strings.TrimSpace(query.Get(name)) }
	f = ports.ActivityFilter{Platform: r.platform.ID, Actor: get("actor"), After: after(query), Limit: pageSize}
	f.At, problems = r.zone().interval(get)
	f.SubjectID, f.Subject = subjectIn(get("object"))
	return f, []field{
		{Name: "actor", Label: "Person", Value: get("actor"), Hint: "A part of what is shown: a name, an e-mail address or a token."},
		{Name: "object", Label: "Object", Value: get("object"), Hint: "Its id, or its name as shown, such as a month."},
		r.zone().field("from", "From", get("from")), r.zone().field("to", "To", get("to"))}, problems
}

// subjectIn returns what a text that the list shows stands for: the id in it, or else its name.
func subjectIn(text string) (uuid.UUID, string) {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ':' }) {
		if id, err := uuid.Parse(word); err == nil {
			return id, ""
		}
	}
	return uuid.Nil, text
}

// objectCell shows what was changed, with a link to its page, if it has one and the person may see it.
func (p page) objectCell(a ports.Activity) cell {
	if path := objectLink(p.Base, a.Subject); path != "" {
		return linked(a.Object(), path)
	}
	return plain(a.Object())
}

func (c *Console) showAudit(r *request) error {
	f, fields, problems := activityFilter(r)
	v := view{page: c.page(r, "Audit", "audit"), Problems: problems, Filter: &filter{r.URL.Path, fields},
		Intro: "What people have decided, changed and looked at, newest first, with the values before and after. Changes of months and " +
			"proposals are among them; postings are in the ledger."}
	if r.platform.ID.IsZero() {
		v.Section = "audit-all"
		v.Intro = "What people have done to the service as a whole, newest first: sign-ins, invitations, roles, prices and keys."
	}
	if len(problems) > 0 {
		return c.show(r, v)
	}
	found, more, err := c.Activity.List(r.Context(), f)
	if err != nil {
		return err
	}
	v.Sections = []section{{Table: v.activityTable(found)}}
	v.Older = older(r, more, found, func(a ports.Activity) string { return a.ID.String() })
	if query := r.URL.Query(); len(found) > 0 {
		query.Del("after")
		v.Download, v.DownloadJSON = r.URL.Path+".csv?"+query.Encode(), r.URL.Path+".json?"+query.Encode()
	}
	return c.show(r, v)
}

func (p page) activityTable(found []ports.Activity) *table {
	t := &table{Label: "Actions", Columns: columns("Time", "Person", "Action", "Object", "Changes", "Reason or outcome"),
		Empty: "Nobody has done such a thing. Leave out a part of the filter."}
	for _, a := range found {
		t.Rows = append(t.Rows, []cell{timed(a.At), plain(a.Actor), linked(lower(a.Action), cmp.Or(p.Base, root)+"/audit/"+a.ID.String()),
			p.objectCell(a), plain(summaryOf(p.changesIn(a))), plain(a.Note)})
	}
	return t
}

// maxSummary is the longest text of changes in a list, in characters.
const maxSummary = 80

// summaryOf returns the changes in a few words: what was changed or, if that is too much, the names of the fields, or their number.
func summaryOf(changes []diff.Field) string {
	for _, text := range []func(diff.Field) string{diff.Field.String, func(f diff.Field) string { return f.Name }} {
		if all := joinedChanges(changes, text); utf8.RuneCountInString(all) <= maxSummary {
			return all
		}
	}
	return itoa(len(changes)) + " fields"
}

func joinedChanges(changes []diff.Field, text func(diff.Field) string) string {
	texts := make([]string, len(changes))
	for i, c := range changes {
		texts[i] = text(c)
	}
	return strings.Join(texts, "; ")
}

// changesIn returns the changes of an entry as the person may see them: settings of connections as on their own pages.
func (p page) changesIn(a ports.Activity) []diff.Field {
	if platform.OperatorActionKind(a.Action).IsOfConnection() && !p.mayViewSettings() {
		return diff.Hide(a.Changes, func(string) bool { return false })
	}
	return a.Changes
}

// showAuditEntry shows one entry, with the fields that were changed.
func (c *Console) showAuditEntry(r *request) error {
	id, err := uuid.Parse(r.PathValue("entry"))
	if err != nil {
		return errNotFound
	}
	a, err := c.Activity.Get(r.Context(), r.platform.ID, id)
	if fault.Is(err, fault.NotFound) {
		return errNotFound
	}
	if err != nil {
		return err
	}
	v := view{page: c.page(r, capital(lower(a.Action)), "audit")}
	if r.platform.ID.IsZero() {
		v.Section = "audit-all"
	}
	v.Facts = add(add(nil, "Time", moment(a.At)), "Person", a.Actor)
	v.Facts = add(add(v.Facts, "Action", a.Action), "Object", a.Object())
	v.Facts = add(add(v.Facts, "Reason or outcome", a.Note), "Entry", a.ID.String())
	if changes := v.changesIn(a); len(changes) > 0 {
		v.Sections = []section{{Heading: "What was changed", Table: changedFields(changes, "")}}
		if slices.ContainsFunc(changes, func(f diff.Field) bool { return f.Hidden }) {
			v.Sections[0].Text = "Values that are secret or identify a person are not recorded, and settings of connections are shown to those " +
				"who see connections or approve their changes."
		}
	}
	return c.show(r, v)
}

// pageOfDownload is how many entries of a download are read at once.
const pageOfDownload = activity.MaxLimit

// downloaded sends the entries that the filter of a request selects, as far as a file has them, while they are read.
func (c *Console) downloaded(r *request, document exports.Document,
	write func(out io.Writer, all iter.Seq2[ports.Activity, error]) error) error {
	f, _, problems := activityFilter(r)
	if len(problems) > 0 {
		return &problem{http.StatusUnprocessableEntity, "The list cannot be made", strings.Join(problems, " ")}
	}
	p := c.page(r, "Audit", "audit")
	document.Write = func(ctx context.Context, out io.Writer) error {
		return write(out, func(yield func(ports.Activity, error) bool) {
			f.Limit = pageOfDownload
			for n, more := 0, true; more && n < maxDownload; n += f.Limit {
				var found []ports.Activity
				var err error
				if found, more, err = c.Activity.List(ctx, f); err != nil {
					yield(ports.Activity{}, err)
					return
				}
				for _, a := range found {
					a.Changes, f.After = p.changesIn(a), a.ID
					if !yield(a, nil) {
						return
					}
				}
			}
		})
	}
	return download(r, document)
}

// downloadAudit writes the list as a file.
func (c *Console) downloadAudit(r *request) error {
	return c.downloaded(r, exports.Document{Name: "audit.csv", ContentType: "text/csv; charset=utf-8"},
		func(out io.Writer, all iter.Seq2[ports.Activity, error]) error {
			lines := csv.NewWriter(out)
			_ = lines.Write(exports.ActivityColumns) // the writer keeps its error
			for a, err := range all {
				if err == nil {
					err = lines.Write(exports.ActivityRow(a))
				}
				if err != nil {
					return err
				}
			}
			lines.Flush()
			return lines.Error()
		})
}

// auditEntry is an entry of the list as JSON.
type auditEntry struct {
	ID      string        `json:"id"`
	At      string        `json:"at"`
	Actor   string        `json:"actor"`
	Action  string        `json:"action"`
	Object  string        `json:"object"`
	Note    string        `json:"note"`
	Changes []auditChange `json:"changes"`
}

type auditChange struct {
	Name   string `json:"field"`
	Before string `json:"before"`
	After  string `json:"after"`
	Hidden bool   `json:"hidden,omitempty"`
}

// downloadAuditJSON writes the list as JSON.
func (c *Console) downloadAuditJSON(r *request) error {
	return c.downloaded(r, exports.Document{Name: "audit.json", ContentType: "application/json"},
		func(out io.Writer, all iter.Seq2[ports.Activity, error]) error {
			lines, before := bufio.NewWriter(out), "["
			for a, err := range all {
				if err != nil {
					return err
				}
				entry := auditEntry{a.ID.String(), rfc3339(a.At), a.Actor, a.Action, a.Object(), a.Note, []auditChange{}}
				for _, f := range a.Changes {
					entry.Changes = append(entry.Changes, auditChange(f))
				}
				_, _ = lines.WriteString(before) // the writer keeps its error
				if err := json.NewEncoder(lines).Encode(entry); err != nil {
					return err
				}
				before = ","
			}
			if before == "[" {
				_, _ = lines.WriteString(before)
			}
			_, _ = lines.WriteString("]\n")
			return lines.Flush()
		})
}
