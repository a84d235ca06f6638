package pages

import (
	"sync"

	"causeway/core/ident"
)

const (
	// maxUploads limits the memory for files; those that are received are not stored on disk.
	maxUploads = 8
	// maxUploadsEach is how many of them are of one customer, who could otherwise keep all others from
	// uploading. It leaves room for uploads whose connection broke.
	maxUploadsEach = 3
)

// uploadSlots limits the files that are received at once. It is safe for concurrent use.
type uploadSlots struct {
	mu    sync.Mutex
	total int
	of    map[ident.Customer]int
}

// take takes a slot for a customer, and returns false if there is none. The caller releases it.
func (s *uploadSlots) take(c ident.Customer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.total >= maxUploads || s.of[c] >= maxUploadsEach {
		return false
	}
	if s.of == nil {
		s.of = map[ident.Customer]int{}
	}
	s.total++
	s.of[c]++
	return true
}

func (s *uploadSlots) release(c ident.Customer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total--
	if s.of[c]--; s.of[c] == 0 {
		delete(s.of, c)
	}
}
