package console

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"causeway/core/csvcell"
	"causeway/core/person"
	"causeway/ports"
)

// Activity are the use cases on what people have done.
type Activity interface {
	List(ctx context.Context, f ports.ActivityFilter) (found []ports.Activity, more bool, err error)
}

func (c *Console) auditRoutes() []platformRoute {
	return []platformRoute{
		{"GET", "/audit", person.ViewAudit, c.showAudit},
		{"GET", "/audit.csv", person.ViewAudit, c.downloadAudit},
	}
}

// activityFilter returns the filter of a request: of the platform, or of the service as a whole on the page of no platform.
func activityFilter(r *request) (f ports.ActivityFilter, fields []field, problems []string) {
	query := r.URL.Query()
	get := func(name string) string { return strings.TrimSpace(query.Get(name)) }
	f = ports.ActivityFilter{Platform: r.platform.ID, Actor: get("actor"), After: after(query), Limit: pageSize}
	f.At, problems = r.zone().interval(get)
	if text := get("object"); text != "" {
		_, id, hasKind := strings.Cut(text, ":")
		if !hasKind {
			id = text
		}
		var err error
		if f.SubjectID, err = uuid.Parse(id); err != nil {
			problems = append(problems, "An object is found by its id, such as Transaction:0190…")
		}
	}
	return f, []field{{Name: "actor", Label: "Person", Value: get("actor"), Hint: "A part of its name or e-mail address."},
		{Name: "object", Label: "Object", Value: get("object"), Hint: "Its id."},
		r.zone().field("from", "From", get("from")), r.zone().field("to", "To", get("to"))}, problems
}

func (c *Console) showAudit(r *request) error {
	f, fields, problems := activityFilter(r)
	v := view{page: c.page(r, "Audit", "audit"), Problems: problems, Filter: &filter{r.URL.Path, fields},
		Intro: "What people have decided, changed and looked at, newest first. Changes of months and proposals are among them; postings are " +
			"in the " +
			"ledger."}
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
	v.Sections = []section{{Table: activityTable(found)}}
	v.Older = older(r, more, found, func(a ports.Activity) string { return a.ID.String() })
	if query := r.URL.Query(); len(found) > 0 {
		query.Del("after")
		v.Download = r.URL.Path + ".csv?" + query.Encode()
	}
	return c.show(r, v)
}

func activityTable(found []ports.Activity) *table {
	t := &table{Label: "Actions", Columns: columns("Time", "Person", "Action", "Object", "Reason or outcome"),
		Empty: "Nobody has done such a thing. Leave out a part of the filter."}
	for _, a := range found {
		t.Rows = append(t.Rows, []cell{timed(a.At), plain(a.Actor), plain(lower(a.Action)), plain(subjectOf(a)), plain(a.Note)})
	}
	return t
}

func subjectOf(a ports.Activity) string {
	if a.SubjectID == uuid.Nil || strings.Contains(a.Subject, a.SubjectID.String()) {
		return a.Subject
	}
	return joined([]string{a.Subject, a.SubjectID.String()})
}

// downloadAudit writes the list as a file.
func (c *Console) downloadAudit(r *request) error {
	f, _, problems := activityFilter(r)
	if len(problems) > 0 {
		return &problem{422, "The list cannot be made", strings.Join(problems, " ")}
	}
	var rows [][]string
	for more := true; more && len(rows) < maxDownload; {
		f.Limit = min(1000, maxDownload-len(rows))
		found, isMore, err := c.Activity.List(r.Context(), f)
		if err != nil {
			return err
		}
		for _, a := range found {
			rows = append(rows, []string{a.ID.String(), rfc3339(a.At), csvcell.Escape(a.Actor), a.Action, csvcell.Escape(subjectOf(a)),
				csvcell.Escape(a.Note)})
			f.After = a.ID
		}
		more = isMore
	}
	return writeCSV(r, "audit.csv", []string{"id", "at", "actor", "action", "object", "note"}, rows)
}
