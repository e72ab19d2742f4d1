//go:build unix

package leasefaults

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/shardsnow/snow/sqlsnow"
)

// podIndex is the environment variable with the index of a pod, as in the manifest of deploy/kubernetes-pinned.yaml.
const podIndex = "POD_INDEX"

func pods() []scenario {
	return []scenario{
		{
			name: "two pods of one ordinal", proxied: true,
			namespace: sqlsnow.Namespace{Workers: 8, Window: 10 * time.Minute, PinnedWindow: 2 * time.Second},
			play:      (*world).twins,
		},
	}
}

// readPod takes the number to ask for from the environment.
func (j *job) readPod() error {
	if j.Pod == "" {
		return nil
	}
	index, err := strconv.ParseUint(os.Getenv(podIndex), 10, 64)
	j.Pin = &index
	return err
}

// pod starts a process that takes its number from its pod's index.
func pod(j *job) { j.Pod, j.Patient = "5", false }

// crashing is a pod that is started again and again while it can't have its number.
func crashing(j *job) { j.Timeout, j.Patient = 2*time.Second, true }

// twins has two pods of one ordinal alive: first one whose node is cut off, then one whose machine is paused.
func (w *world) twins() {
	elsewhere := func(j *job) { j.DSN = strings.Replace(j.DSN, w.proxy.addr, w.server.Addr(), 1) }
	lost := w.start(1, pod)[0]
	w.pinned(lost)
	w.proxy.silence() // its node; the pod is deleted by force, and goes on
	second := w.start(1, pod, elsewhere)[0]
	w.expire([]*process{lost})
	w.toTheCeiling([]*process{lost})
	w.pinned(second)
	w.proxy.speak()
	w.outlived(lost)
	flow(w, second)

	third := w.start(1, pod, elsewhere, crashing)[0]
	r := third.await(w, "was refused because somebody has the number", func(r report) bool { return r.Held > 0 })
	if r.HeldBy != second.name || r.Acquired > 0 {
		w.Errorf("a pod of the same ordinal has %d leases, and was refused because of holder %q, want none and %q", r.Acquired, r.HeldBy, second.name)
	}
	second.stop(w)
	w.pinned(third)
	second.resume(w)
	w.outlived(second)
	flow(w, third)
}

// outlived waits until a process knows that another one has its number. A pinned lease can't go on with another one.
func (w *world) outlived(p *process) {
	w.Helper()
	p.await(w, "ended", func(r report) bool { return r.Ended == 1 && r.Displaced > 0 && r.Expired > r.Resumed })
}
