package event

import (
	"fmt"
	"slices"
)

// Kind is a kind of events: their type, the names that they have, and how their bodies are rendered.
type Kind struct {
	Type  Type
	Names []string
	// Render returns the body of an event that has a resource. It fails for a resource of another type.
	Render func(Event) ([]byte, error)
}

// Registry has every kind of events that exists.
type Registry []Kind

// Types returns every type.
func (r Registry) Types() []Type {
	types := make([]Type, len(r))
	for i, kind := range r {
		types[i] = kind.Type
	}
	return types
}

// TypeOf returns the type of the events of a name, or false for an unknown name.
func (r Registry) TypeOf(name string) (Type, bool) {
	for _, kind := range r {
		if slices.Contains(kind.Names, name) {
			return kind.Type, true
		}
	}
	return "", false
}

// Render returns an event with its body. One without a resource has no more than its envelope.
func (r Registry) Render(e Event) (Rendered, error) {
	if e.Resource == nil {
		return e.Rendered(e.Envelope()), nil
	}
	i := slices.IndexFunc(r, func(kind Kind) bool { return kind.Type == e.Type })
	if i < 0 {
		return Rendered{}, fmt.Errorf("event %s: no body for the type %s", e.Name, e.Type)
	}
	body, err := r[i].Render(e)
	return e.Rendered(body), err
}

// RenderAll returns events with their bodies, in their order.
func (r Registry) RenderAll(events []Event) ([]Rendered, error) {
	rendered := make([]Rendered, len(events))
	for i, e := range events {
		var err error
		if rendered[i], err = r.Render(e); err != nil {
			return nil, err
		}
	}
	return rendered, nil
}
