package httpapi

import (
	"context"

	"causeway/ports"
)

// paging makes the parameters known to GetPage.
func (p Paging) paging() Paging { return p }

// GetPage registers an operation that lists items by their ids. Its input embeds Paging, and Sorting if it lists in either order; list
// gets the page that they ask for, the newest items first by default.
func GetPage[In, Item, Body any, Key identifier[Key]](a *API, op Operation,
	list func(ctx context.Context, call Call, in *In, page ports.Paging) (ports.Page[Item], error),
	render func(Item) Body, id func(Item) Key) {
	Get(a, op, func(ctx context.Context, call Call, in *In) (ports.Page[Item], error) {
		asked := any(in).(interface{ paging() Paging }).paging()
		after, err := CursorID[Key](asked.Cursor)
		if err != nil {
			return ports.Page[Item]{}, err
		}
		page := ports.Paging{Limit: asked.Limit, After: after.UUID()}
		if sorted, ok := any(in).(interface{ Ascending() bool }); ok {
			page.Ascending = sorted.Ascending()
		}
		return list(ctx, call, in, page)
	}, func(p ports.Page[Item]) Page[Body] {
		return RenderPage(p, render, func(item Item) string { return id(item).String() })
	})
}

// RenderPage renders one page of a list.
func RenderPage[Item, Body any](p ports.Page[Item], render func(Item) Body, id func(Item) string) Page[Body] {
	bodies := make([]Body, len(p.Items))
	for i, item := range p.Items {
		bodies[i] = render(item)
	}
	var last Cursor
	if len(p.Items) > 0 {
		last.ID = id(p.Items[len(p.Items)-1])
	}
	return NewPage(bodies, p.More, last, p.Total, p.TotalIsMinimum)
}
