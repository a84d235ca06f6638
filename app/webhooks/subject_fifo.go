package webhooks

import "github.com/google/uuid"

// subjectFIFO is a queue of subjects.
type subjectFIFO struct{ subjects []uuid.UUID }

func (f *subjectFIFO) push(subject uuid.UUID) { f.subjects = append(f.subjects, subject) }

func (f *subjectFIFO) pop() (uuid.UUID, bool) {
	if len(f.subjects) == 0 {
		return uuid.Nil, false
	}
	first := f.subjects[0]
	f.subjects = f.subjects[1:]
	return first, true
}
