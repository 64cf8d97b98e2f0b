// SPDX-License-Identifier: BSD-3-Clause
//! ONNX Runtime with Leat by the crate ort: registers the provider from a path, and runs a model of small pictures from
//! 8 threads, each answer compared with that of the CPU. The crate gives a session to one thread at a time, so each
//! thread has its own; they share the device. Usage: host LIBONNXRUNTIME PROVIDER.so MODEL.onnx. Exits with 77 if there
//! is no device.
use ort::{environment::Environment, session::Session, value::Tensor};

const THREADS: usize = 8;
const RUNS: usize = 100;

fn classify(session: &mut Session, picture: Vec<f32>) -> ort::Result<Vec<f32>> {
    let image = Tensor::from_array(([1usize, 1, 8, 8], picture))?;
    let outputs = session.run(ort::inputs!["image" => image])?;
    Ok(outputs["scores"].try_extract_tensor::<f32>()?.1.to_vec())
}

fn work(env: &Environment, model: &str, thread: usize) -> ort::Result<usize> {
    // The best device comes first.
    let device = env.devices().filter(|device| device.ep().is_ok_and(|name| name == "LeatExecutionProvider")).take(1);
    let mut leat = Session::builder(env)?
        .with_devices(device, None)?
        // A model that does not run on Leat as a whole is refused.
        .with_config_entry("session.disable_cpu_ep_fallback", "1")?
        .commit_from_file(model)?;
    let mut cpu = Session::builder(env)?.commit_from_file(model)?;
    let mut right = 0;
    for run in 0..RUNS {
        let picture: Vec<f32> = (0..64).map(|p| ((thread * 31 + run * 7 + p * 5) % 17) as f32 / 16.0).collect();
        let scores = classify(&mut leat, picture.clone())?;
        let expected = classify(&mut cpu, picture)?;
        let close = |(s, e): (&f32, &f32)| (s - e).abs() <= 1e-3 * (1.0 + e.abs());
        right += usize::from(scores.len() == expected.len() && scores.iter().zip(&expected).all(close));
    }
    Ok(right)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let env = ort::init_from(&arguments[1])?.build()?;
    env.register_ep_library("leat", &arguments[2])?;
    if !env.devices().any(|device| device.ep().is_ok_and(|name| name == "LeatExecutionProvider")) {
        eprintln!("no Vulkan device; leat-info says why");
        std::process::exit(77);
    }
    let (env, model) = (&env, arguments[3].as_str());
    let mut right = 0;
    std::thread::scope(|scope| -> ort::Result<()> {
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || work(env, model, thread))).collect();
        for thread in threads {
            right += thread.join().expect("a thread has panicked")?;
        }
        Ok(())
    })?;
    println!("{right} of {} answers right", THREADS * RUNS);
    std::process::exit(if right == THREADS * RUNS { 0 } else { 1 });
}
