// SPDX-License-Identifier: BSD-3-Clause

// ONNX Runtime with Leat by the module onnxruntime_go: registers the provider from a path, and runs a model of small
// pictures from 8 threads on one session, each answer compared with that of the CPU. Usage: host LIBONNXRUNTIME
// PROVIDER.so MODEL.onnx. Exits with 77 if there is no device.
package main

import (
	"fmt"
	"log"
	"math"
	"os"
	"runtime"
	"sync"

	ort "github.com/yalue/onnxruntime_go"
)

const (
	threads = 8
	runs    = 100
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func open(runtimeLibrary, model string, onLeat bool) *ort.DynamicAdvancedSession {
	options, err := ort.NewSessionOptions()
	check(err)
	defer options.Destroy()
	if onLeat {
		check(appendLeat(runtimeLibrary, options))
		// A model that does not run on Leat as a whole is refused.
		check(options.AddSessionConfigEntry("session.disable_cpu_ep_fallback", "1"))
	}
	session, err := ort.NewDynamicAdvancedSession(model, []string{"image"}, []string{"scores"}, options)
	check(err)
	return session
}

func classify(session *ort.DynamicAdvancedSession, picture []float32) []float32 {
	image, err := ort.NewTensor(ort.NewShape(1, 1, 8, 8), picture)
	check(err)
	defer image.Destroy()
	scores, err := ort.NewEmptyTensor[float32](ort.NewShape(1, 10))
	check(err)
	defer scores.Destroy()
	check(session.Run([]ort.Value{image}, []ort.Value{scores}))
	return append([]float32(nil), scores.GetData()...)
}

func work(leat, cpu *ort.DynamicAdvancedSession, thread int) int {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	right := 0
	for run := 0; run < runs; run++ {
		picture := make([]float32, 64)
		for p := range picture {
			picture[p] = float32((thread*31+run*7+p*5)%17) / 16
		}
		scores, expected := classify(leat, picture), classify(cpu, picture)
		close := len(scores) == len(expected)
		for s := range scores {
			difference := math.Abs(float64(scores[s] - expected[s]))
			close = close && difference <= 1e-3*(1+math.Abs(float64(expected[s])))
		}
		if close {
			right++
		}
	}
	return right
}

func main() {
	ort.SetSharedLibraryPath(os.Args[1])
	check(ort.InitializeEnvironment())
	check(ort.RegisterExecutionProviderLibrary("leat", os.Args[2]))
	leat, cpu := open(os.Args[1], os.Args[3], true), open(os.Args[1], os.Args[3], false)
	var rights [threads]int
	var group sync.WaitGroup
	for i := range rights {
		group.Add(1)
		go func(thread int) {
			defer group.Done()
			rights[thread] = work(leat, cpu, thread)
		}(i)
	}
	group.Wait()
	right := 0
	for _, part := range rights {
		right += part
	}
	fmt.Printf("%d of %d answers right\n", right, threads*runs)
	check(leat.Destroy())
	check(cpu.Destroy())
	if right != threads*runs {
		os.Exit(1)
	}
}
