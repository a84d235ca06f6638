package console

import (
	"context"
	"net/http"
	"strings"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
)

// Filters are the use cases on filters that people have saved.
type Filters interface {
	SavedFilters(ctx context.Context, p ident.Platform, of ident.Person, list string) ([]person.SavedFilter, error)
	Save(ctx context.Context, f person.SavedFilter) error
	DeleteFilter(ctx context.Context, p ident.Platform, of ident.Person, list, name string) error
}

// paymentsList is the name of the list of payments among saved filters.
const paymentsList = "payments"

// saveFilter saves the filter of the list of payments under a name, or deletes one, and goes back to the list.
func (c *Console) saveFilter(r *request) error {
	query := r.PostFormValue("query")
	if name := r.PostFormValue("delete"); name != "" {
		if err := c.Filters.DeleteFilter(r.Context(), r.platform.ID, r.in.Person.ID, paymentsList, name); err != nil {
			return err
		}
		return redirect(r, basePath(r.platform.ID)+"/payments?"+query)
	}
	err := c.Filters.Save(r.Context(), person.SavedFilter{Platform: r.platform.ID, Person: r.in.Person.ID, List: paymentsList,
		Name: r.PostFormValue("name"), Query: query})
	if f, ok := fault.As(err); ok && len(f.Fields) > 0 {
		texts := make([]string, len(f.Fields))
		for i, bad := range f.Fields {
			texts[i] = "The " + bad.Field + " " + bad.Message + "."
		}
		return &problem{http.StatusUnprocessableEntity, "The filter was not saved", strings.Join(texts, " ")}
	}
	if err != nil {
		return err
	}
	return redirect(r, basePath(r.platform.ID)+"/payments?"+query)
}
